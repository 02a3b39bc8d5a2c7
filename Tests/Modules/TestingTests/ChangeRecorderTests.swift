// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeTesting
import Testing

@Suite struct ChangeRecorderTests {
  private let device: Device
  private let settings: AppSettings
  private let shared: SharedSettings

  init() throws {
    device = try Device.inMemory()
    settings = try AppSettings(on: device)
    shared = try SharedSettings(on: device)
  }

  @Test func itRemembersEachCommitAsOneSet() throws {
    let recorder = ChangeRecorder(device)
    #expect(recorder.sets.isEmpty && recorder.last == nil)
    settings.username = "ada"
    try device.transaction {
      settings.username = "bob"
      shared.theme = .dark
    }
    #expect(recorder.sets.map { $0.map(\.key) } == [["username"], ["username", "theme"]])
    #expect(recorder.all.map(\.new) == ["ada", "bob", "dark"])
    #expect(recorder.changes(of: "username").map(\.old) == [nil, "ada"])
    #expect(recorder.last?.key == "theme")
    recorder.clear()
    #expect(recorder.sets.isEmpty)
    settings.username = "eve"
    #expect(recorder.all.map(\.new) == ["eve"])
  }

  @Test func aStoresRecorderHearsOfThatStoreAlone() {
    let recorder = ChangeRecorder(settings)
    shared.theme = .dark
    settings["e\u{301}"] = 1
    #expect(recorder.all.map(\.store) == ["defaults"])
    #expect(recorder.changes(of: "e\u{301}").count == 1)
    #expect(recorder.changes(of: "é").isEmpty)
  }

  @Test func itEndsWithTheRecorder() {
    var recorder: ChangeRecorder? = ChangeRecorder(device)
    #expect(device.hasObservers)
    recorder = nil
    #expect(!device.hasObservers)
    #expect(recorder == nil)
  }

  @Test func waitingSeesWhatWasAndWhatComes() async throws {
    let recorder = ChangeRecorder(device)
    settings.loginCount = 1
    #expect(try await recorder.next("loginCount").new == 1)
    async let tenth = recorder.next { $0.new == 10 }
    async let theme = recorder.next("theme")
    elsewhere {
      for count in 2...20 { settings.loginCount = count }
      shared.theme = .sepia
    }
    #expect(try await tenth.old == 9)
    #expect(try await theme.new == "sepia")
  }

  @Test func aChangeThatWasReturnedIsNotReturnedAgain() async throws {
    let recorder = ChangeRecorder(device)
    settings.loginCount = 1
    shared.theme = .dark
    settings.loginCount = 2
    #expect(try await recorder.next("loginCount").new == 1)
    #expect(try await recorder.next("loginCount").new == 2)
    await #expect(throws: ChangeRecorder.TimedOut.self) {
      try await recorder.next("loginCount", within: .zero)
    }
    #expect(try await recorder.next { $0.new == "dark" }.key == "theme")
    settings.loginCount = 3
    #expect(try await recorder.next("loginCount").new == 3)
  }

  @Test func aCallerThatWaitsAlreadyIsNotified() async throws {
    let recorder = ChangeRecorder(settings)
    settings.loginCount = 1
    let isWaiting = DispatchSemaphore(value: 0)
    elsewhere {
      isWaiting.wait()
      settings.loginCount = 2
    }
    let second = try await recorder.next { change in
      isWaiting.signal()  // it looks at the first change, and cannot miss the second any more
      return change.new == 2
    }
    #expect(second.old == 1)
  }

  @Test func manyWaitersShareTheChanges() async throws {
    let recorder = ChangeRecorder(settings)
    let counts = try await withThrowingTaskGroup(of: StoredValue?.self) { group in
      for _ in 0..<50 { group.addTask { try await recorder.next("loginCount").new } }
      elsewhere { for count in 1...50 { settings.loginCount = count } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(counts == Set((1...50).map { .integer($0) }))
  }

  @Test func waitingTooLongFailsAndSaysWhatCameInstead() async throws {
    let recorder = ChangeRecorder(device)
    let nothing = await #expect(throws: ChangeRecorder.TimedOut.self) {
      try await recorder.next(within: .zero) { _ in true }
    }
    #expect(nothing?.description == "no further such change within 0.0 seconds; nothing changed")
    try device.transaction {
      settings.username = "secret"
      shared.theme = .dark
    }
    let other = await #expect(throws: ChangeRecorder.TimedOut.self) {
      try await recorder.next("volume", within: .milliseconds(1))
    }
    #expect(
      other?.description == """
        no further change of "volume" within 0.001 seconds; \
        what changed so far is [defaults/username, cloud/theme]
        """)
    await #expect(throws: ChangeRecorder.TimedOut.self) {
      try await recorder.next(within: .zero) { $0.new == 5 }
    }
  }

  @Test func aCallerThatTimedOutTakesNothingAway() async throws {
    let recorder = ChangeRecorder(settings)
    for count in 1...100 {
      elsewhere { settings.loginCount = count }
      var got: SettingChange?
      for _ in 0..<20 where got == nil {
        // Gives up at about the time the change comes.
        do {
          got = try await recorder.next("loginCount", within: .zero)
        } catch is ChangeRecorder.TimedOut {}
      }
      if got == nil { got = try await recorder.next("loginCount") }
      #expect(got?.new == .integer(Int64(count)))
    }
  }

  @Test func aCancelledWaitEnds() async throws {
    let recorder = ChangeRecorder(settings)
    let waiting = Task { try await recorder.next("none", within: .seconds(3600)) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test func mergesAreRecordedToo() throws {
    let recorder = ChangeRecorder(shared)
    let other = try SharedSettings(on: .inMemory())
    other.theme = .dark
    try device.merge(with: other.device)
    #expect(recorder.all.map(\.reason) == [.firstMerge])
  }

  private func elsewhere(_ body: @escaping @Sendable () -> Void) {
    Thread.detachNewThread(body)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

/// Which threads of a process wait for which.
@Suite struct WaitingTests {
  private let device: Device
  init() throws { device = try .temporary() }

  /// Runs `body` while another thread is in the middle of an access of the device.
  private func beside(
    _ device: Device, _ access: @escaping @Sendable (Device, () -> Void) throws -> Void,
    _ body: () throws -> Void
  ) rethrows {
    let (isWithin, isOver, hasEnded) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    Thread.detachNewThread {
      #expect(throws: Never.self) {
        try access(device) {
          isWithin.signal()
          isOver.wait()
        }
      }
      hasEnded.signal()
    }
    isWithin.wait()
    defer {
      isOver.signal()
      hasEnded.wait()
    }
    try body()
  }

  @Test func aReadWaitsForNoTransactionOfAnotherThread() throws {
    try device.write([LocalWrite(store: "defaults", key: "k", value: "before")])
    try beside(
      device,
      { device, wait in
        try device.transaction {
          try device.write([LocalWrite(store: "defaults", key: "k", value: "within")])
          let entry = try device.entry(store: "defaults", key: "k")
          #expect(entry?.content.value == "within")
          wait()
        }
      }
    ) {
      for _ in 0..<2 {
        #expect(try device.entry(store: "defaults", key: "k")?.content.value == "before")
      }
      var count = 0
      try device.forEachEntry { entry in
        // Within, what is read is of the same connection.
        let again = try device.entry(store: "defaults", key: "k")
        #expect(again == entry)
        count += 1
      }
      #expect(count == 1)
    }
    #expect(try device.entry(store: "defaults", key: "k")?.content.value == "within")
  }

  @Test func aReadWaitsForNoAccessWhateverItDoes() throws {
    try device.write([LocalWrite(store: "defaults", key: "k", value: 1)])
    try beside(device, { device, wait in try device.tables.access { _ in wait() } }) {
      #expect(try device.entry(store: "defaults", key: "k")?.content.value == 1)
      let entry = try device.survey { try device.entry(store: "defaults", key: "k") }
      #expect(entry?.content.value == 1)
    }
  }

  @Test func aWriteWaitsForAnotherThreadNoLongerThanItIsTold() throws {
    try beside(device, { device, wait in try device.transaction { wait() } }) {
      let error = #expect(throws: KeepsakeError.self) {
        try device.write(
          [LocalWrite(store: "defaults", key: "k", value: 1)], waiting: .milliseconds(20))
      }
      #expect(error?.code == .locked)
      #expect(error?.description.contains("another thread of this process") == true)
    }
    try device.write([LocalWrite(store: "defaults", key: "k", value: 1)])
  }

  @Test func theLastObserverIsRemovedWhileAnotherThreadUsesTheFile() throws {
    let token = Heard().observe(device)
    try beside(device, { device, wait in try device.tables.access { _ in wait() } }) {
      // The thread that hears of other processes is waiting for the connection from here on.
      device.shared.waitForCheck()
      #expect(ends { token.cancel() })
    }
  }

  @Test func anObserverIsAddedWhileAnotherThreadUsesTheFile() throws {
    let folder = try TemporaryFolder()
    let device = try Device(
      path: folder.path + "/device.keepsake", busyTimeout: .milliseconds(20))
    try device.write([LocalWrite(store: "cloud", key: "k", value: 0)])
    let (heard, failures) = (Heard(), Collected<KeepsakeError>())
    let tokens = Collected<ObservationToken>()
    try beside(device, { device, wait in try device.tables.access { _ in wait() } }) {
      let isAdded = ends {
        let token = device.observe {
          heard.append($0)
        } onFailure: {
          failures.append([$0])
        }
        tokens.append([token])
      }
      #expect(isAdded && failures.sets.flatMap { $0.map(\.code) } == [.locked])
    }
    // One check is over when the next one begins: it has read what is observed.
    for _ in 0..<2 { device.shared.waitForCheck() }
    try device.shell(
      "UPDATE entry SET value = 1, sequence_number = sequence_number + 1 WHERE key = 'k'")
    #expect(heard.wait { $0.map(\.new) == [1] })
    for token in tokens.sets.joined() { token.cancel() }
  }

  @Test func aFileThatHasTheNameOfAMovedOneIsNotRead() throws {
    try device.write([LocalWrite(store: "defaults", key: "k", value: "moved")])
    let other = device.path + ".other"
    try Device(at: URL(fileURLWithPath: other)).write([
      LocalWrite(store: "defaults", key: "k", value: "other")
    ])
    try FileManager.default.moveItem(atPath: device.path, toPath: device.path + ".away")
    try FileManager.default.moveItem(atPath: other, toPath: device.path)
    let hasRead = DispatchSemaphore(value: 0)
    for _ in 0..<3 {
      // Another thread would get a second connection, to what has the name now.
      let early = try device.tables.access { _ in
        Thread.detachNewThread {
          let entry = Result { try device.entry(store: "defaults", key: "k") }
          #expect(throws: Never.self) { try entry.get() }
          if case .success(let entry) = entry { #expect(entry?.content.value == "moved") }
          hasRead.signal()
        }
        return hasRead.wait(timeout: .now() + .milliseconds(100))
      }
      #expect(early == .timedOut)
      if early == .timedOut { hasRead.wait() }
    }
  }
}

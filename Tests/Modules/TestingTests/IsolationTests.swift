// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeInjection
import KeepsakeTesting
import Testing

@Suite struct IsolationTests {
  private static let app = Container { c in
    c.register { _ in try Device.inMemory() }
    c.register { c in try AppSettings(on: c.get()) }
    c.register(using: Login.init)
  }

  @Test func testsThatRunAtOnceShareNothing() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          let test = try Self.app.forTest()
          let settings: AppSettings = try test.get()
          #expect(settings.username == "guest")
          try test.get(Container.Key<Login>()).run(as: "user \(number)")
          await Task.yield()
          #expect(settings.username == "user \(number)")
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func whatTheProgramHasMadeAlreadyIsNotUsed() throws {
    let app = Container { c in
      c.register { _ in try Device.inMemory() }
      c.register { c in try AppSettings(on: c.get()) }
    }
    let theirs: AppSettings = try app.get()
    theirs.username = "ada"
    let ours: AppSettings = try app.forTest().get()
    #expect(ours.username == "guest")
    #expect(ours !== theirs)
  }

  @Test func theDevicesOfTwoNamesAreTwo() throws {
    let app = Container { c in
      c.register(Container.Key("main"), primary: true) { _ in try Device.inMemory() }
      c.register(Container.Key("archive")) { _ in try Device.inMemory() }
        .as(Container.Key<Device>("old")) { $0 }
    }
    let test = try app.forTest()
    let (main, archive): (Device, Device) = try (
      test.get(), test.get(Container.Key("archive"))
    )
    #expect(main !== archive)
    #expect(try test.get(Container.Key<Device>("main")) === main)
    #expect(try test.get(Container.Key<Device>("old")) === archive)
  }

  @Test func moreCanBeReplacedAndTheClockIsTheGivenOne() throws {
    let clock = ManualClock()
    let test = try Self.app.forTest(clock: clock) { $0.register(Container.Key("y")) { _ in "x" } }
    #expect(try test.get(Container.Key<String>("y")) == "x")
    let settings: AppSettings = try test.get()
    let recorder = ChangeRecorder(settings)
    settings.username = "ada"
    #expect(recorder.last?.timestamp.milliseconds == clock.milliseconds)
  }
}

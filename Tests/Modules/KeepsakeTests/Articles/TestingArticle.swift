// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeInjection
import TestSupport
import Testing

@Suite struct TestingArticle {
  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting("letter_size") var letterSize = 12
  }

  @Test func aNewUserIsAGuest() throws {
    let settings = try AppSettings(on: .inMemory(), arguments: .none)
    #expect(settings.username == "guest")
  }

  @Test func aChildOfAContainerIsFresh() throws {
    let app = Container { c in
      c.register { _ in try Device(identifier: "org.example.reader") }
      c.register { c in try AppSettings(on: c.get()) }
    }
    let test = try app.child(fresh: true) { try $0.set(Device.inMemory()) }
    let settings: AppSettings = try test.get()
    let recorder = ChangeRecorder(settings)
    settings.username = "ada"
    #expect(recorder.changes(of: "username").map(\.new) == ["ada"])
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Observation
import TestSupport
import Testing

#if canImport(SwiftUI)
  import SwiftUI
#endif

@Suite struct ObservingArticle {
  final class AppSettings: DeviceSettings, Observable, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting var letterSize = 12
  }

  #if canImport(SwiftUI)
    struct ReaderView: View {
      @Bindable var settings: AppSettings

      var body: some View {
        TextField("Name", text: $settings.username)
        Stepper("Letters of size \(settings.letterSize)", value: $settings.letterSize, in: 8...24)
      }
    }
  #endif

  private let device: Device
  private let settings: AppSettings
  private let log = ArticleLog()

  init() throws {
    device = try Device.temporary()
    settings = try AppSettings(on: device, arguments: .none)
  }

  @Test func aClosureHearsOfEachCommit() throws {
    let observation = settings.observe { changes in
      for change in changes { log.add("\(change.key) has changed") }
    }
    settings.username = "ada"
    settings["username"] = nil
    observation.cancel()
    settings.username = "unheard"
    #expect(log.lines == ["username has changed", "username has changed"])
  }

  @Test func aFilterTakesWhatIsNeeded() throws {
    let one = settings.observe("username") { _ in log.add("one") }
    let several = settings.observe(["username", "nickname"]) { _ in log.add("several") }
    let editor = settings.observe(.prefix("editor.")) { _ in log.add("editor") }
    let typed = try settings.$username.observe { name in log.add("Hello, \(name)!") }
    let everything = device.observe { changes in
      for change in changes { log.add("\(change.store)/\(change.key)") }
    } onFailure: { error in
      log.add("\(error)")
    }
    settings.username = "ada"
    settings["editor.size"] = 9
    for token in [one, several, editor, typed, everything] { token.cancel() }
    #expect(
      log.lines.filter { !$0.contains("/") } == ["one", "several", "Hello, ada!", "editor"])
    #expect(
      log.lines.filter { $0.contains("/") } == ["defaults/username", "defaults/editor.size"])
  }

  @MainActor @Test func theMainActorIsAskedFor() async throws {
    let (done, finish) = AsyncStream<Void>.makeStream()
    let log = log
    let onMain = settings.observe("username", on: MainActor.self) { _ in log.add("on main") }
    let end = settings.observe("username", on: MainActor.self) { _ in finish.finish() }
    settings.username = "ada"
    #expect(log.lines == [])
    for await _ in done {}
    while log.lines.isEmpty { await Task.yield() }
    #expect(log.lines == ["on main"])
    for token in [onMain, end] { token.cancel() }
  }

  @Test func valuesBeginWithThePresentOne() async throws {
    let writer = Task.detached { [settings] in settings.username = "ada" }
    for await name in settings.$username.values {
      log.add("Hello, \(name)!")
      if name == "ada" { break }
    }
    await writer.value
    #expect(log.lines.last == "Hello, ada!" && log.lines.count <= 2)
  }

  @Test func changesLeaveNothingOut() async throws {
    let changes = settings.changes(.prefix("editor."))
    settings["editor.font"] = "mono"
    try settings.transaction {
      settings["editor.font"] = "serif"
      settings["editor.size"] = 9
    }
    var sets = changes.makeAsyncIterator()
    #expect(await sets.next()?.map(\.new) == ["mono"])
    #expect(await sets.next()?.map(\.key) == ["editor.font", "editor.size"])
  }

  @Test func aChangeTellsWhereItComesFrom() throws {
    let observation = settings.observe { log.add($0) }
    settings.username = "ada"
    let change = log.changes[0]
    #expect(change.store == "defaults" && change.key == "username")
    #expect(change.old == nil && change.new == "ada")  // entries of the store, not of its layers
    #expect(change.origin == .thisProcess)  // or .otherProcess, or .device(id)
    #expect(try change.writer == settings.device.replica() && change.reason == .local)
    observation.cancel()
  }

  @Test func anotherProcessIsHeard() async throws {
    let changes = settings.changes("username")
    let words = ["set", device.path, "username", "bob", "--store", "defaults"]
    #expect(try Command.run(Command.kvsync.get(), words).code == 0)
    var sets = changes.makeAsyncIterator()
    let set = await sets.next()
    #expect(set?.map(\.origin) == [.otherProcess] && set?.map(\.new) == ["bob"])
  }

  @available(macOS 26, iOS 26, *)
  @Test func observationsBeginWithThePresentValue() async throws {
    let writer = Task.detached { [settings] in settings.username = "ada" }
    for await name in Observations({ settings.username }) {
      log.add("Hello, \(name)!")
      if name == "ada" { break }
    }
    await writer.value
    #expect(log.lines.last == "Hello, ada!" && log.lines.count <= 2)
  }

  @Test func anObservableClassIsTracked() throws {
    withObservationTracking {
      log.add("Hello, \(settings.username)!")
    } onChange: {
      log.add("now \(settings.username)")
    }
    settings.letterSize = 14
    settings.username = "ada"
    #expect(log.lines == ["Hello, guest!", "now ada"])
  }

  @Test func notificationsTellTheKeys() throws {
    let center = NotificationCenter()
    settings.postNotifications(to: center)
    let token = center.addObserver(
      forName: UserDefaultsStore.didChangeNotification, object: settings, queue: nil
    ) { note in
      let keys = note.userInfo?[UserDefaultsStore.changedKeysKey] as? [String]
      log.add("changed: \(keys ?? [])")
    }
    settings.username = "ada"
    #expect(log.lines == [#"changed: ["username"]"#])
    center.removeObserver(token)
  }
}

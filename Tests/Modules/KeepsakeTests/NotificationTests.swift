// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

private final class Local: UserDefaultsStore, @unchecked Sendable {
  @Setting var name = "guest"
}

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var theme = "light"
}

/// What a notification told.
private struct Told: Equatable, Sendable {
  var reason: Int?
  var keys: [String]?
  var isFromStore: Bool
}

@Suite struct NotificationTests {
  private let center = NotificationCenter()
  private let device: Device
  private let listener = Collected<Told>()

  init() throws { device = try Device.temporary() }

  private var told: [Told] { listener.sets.flatMap { $0 } }

  private func listen(
    _ name: Notification.Name, _ store: SettingsStore, _ keys: String, _ reason: String = ""
  ) -> any NSObjectProtocol {
    center.addObserver(forName: name, object: store, queue: nil) {
      [listener, weak store] note in
      let info = note.userInfo ?? [:]
      listener.append([
        Told(
          reason: info[reason] as? Int, keys: info[keys] as? [String],
          isFromStore: note.object as? SettingsStore === store)
      ])
    }
  }

  @Test func eachCommitOfALocalStoreIsPosted() throws {
    let store = try Local(on: device)
    let token = listen(UserDefaultsStore.didChangeNotification, store, Local.changedKeysKey)
    store.name = "unheard"
    store.postNotifications(to: center)
    store.postNotifications(to: center)
    store.name = "ada"
    try store.transaction {
      store.name = "bob"
      store["volume"] = 3
    }
    store.name = "bob"
    #expect(
      told == [
        Told(keys: ["name"], isFromStore: true), Told(keys: ["name", "volume"], isFromStore: true),
      ])
    center.removeObserver(token)
  }

  /// Whoever waits for `UserDefaults` would take its object for one.
  @Test func foundationsOwnNotificationIsNotPosted() throws {
    let store = try Local(on: device)
    let name = UserDefaults.didChangeNotification
    let tokens = [
      listen(name, store, Local.changedKeysKey),
      listen(UserDefaultsStore.didChangeNotification, store, Local.changedKeysKey),
    ]
    store.postNotifications(to: center)
    store.name = "ada"
    #expect(told == [Told(keys: ["name"], isFromStore: true)])
    tokens.forEach(center.removeObserver)
  }

  @Test func ofACloudStoreOnlyWhatOthersWroteIsPostedWithItsReason() throws {
    let store = try Shared(on: device)
    let token = listen(
      Shared.didChangeExternallyNotification, store, Shared.changedKeysKey, Shared.changeReasonKey)
    store.postNotifications(to: center)
    let other = try Device.temporary()
    let there = try Shared(on: other)

    store.theme = "own"
    there["a"] = 1
    try device.merge(with: other)
    there["a"] = 2
    there["b"] = 2
    try device.merge(with: other)
    #expect(
      told == [
        Told(reason: 1, keys: ["a"], isFromStore: true),
        Told(reason: 0, keys: ["a", "b"], isFromStore: true),
      ])
    center.removeObserver(token)
  }

  @Test func whatAnotherProcessWroteIsPosted() throws {
    let store = try Shared(on: device)
    let token = listen(
      Shared.didChangeExternallyNotification, store, Shared.changedKeysKey, Shared.changeReasonKey)
    store.postNotifications(to: center)
    try kvsync("set", device.path, "theme", "dark")
    #expect(listener.wait { $0.count == 1 })
    #expect(told == [Told(reason: 0, keys: ["theme"], isFromStore: true)])
    center.removeObserver(token)
  }

  @Test func aStoreThatHasGonePostsNothingAndLeavesNoObserver() throws {
    weak var gone: Local?
    do {
      let store = try Local(on: device)
      store.postNotifications(to: center)
      gone = store
    }
    #expect(gone == nil && !device.hasObservers)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Changes as notifications. The members have the names of Foundation's; the notifications' own
// names differ, so that observers of Foundation's stores do not receive ours.
//
// https://developer.apple.com/documentation/foundation/userdefaults/didchangenotification, and
// didChangeExternallyNotification of
// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore

public import Foundation
import KeepsakeDevice
import KeepsakeValues

extension UserDefaultsStore {
  /// Posted after each commit that changed keys of the store; `object` is the store.
  ///
  /// Unlike Foundation's, it is posted for other processes' commits too, and lists the changed
  /// keys.
  public static let didChangeNotification = Notification.Name(
    "org.keepsake.UserDefaultsStore.didChange")

  /// In `userInfo`: the changed keys, a `[String]`.
  public static let changedKeysKey = "org.keepsake.UserDefaultsStore.changedKeys"

  /// Posts `didChangeNotification` from now on, as long as the store lives, on the thread of
  /// `observe(_:_:)`. A second call for a center has no effect.
  public func postNotifications(to center: NotificationCenter = .default) {
    observeForNotifications(center) { store, changes in
      center.post(
        name: Self.didChangeNotification, object: store,
        userInfo: [Self.changedKeysKey: changes.map(\.key)])
    }
  }
}

extension CloudKeyValueStore {
  /// Posted after each commit of another process or device that changed keys of the store; `object`
  /// is the store.
  public static let didChangeExternallyNotification = Notification.Name(
    "org.keepsake.CloudKeyValueStore.didChangeExternally")

  /// In `userInfo`: the reason, an `Int`, with the numbers of `NSUbiquitousKeyValueStore`: 0 if
  /// another device, or another process on this one, has written; 1 in this device's first sync.
  public static let changeReasonKey = "org.keepsake.CloudKeyValueStore.changeReason"

  /// In `userInfo`: the changed keys, a `[String]`.
  public static let changedKeysKey = "org.keepsake.CloudKeyValueStore.changedKeys"

  /// Posts `didChangeExternallyNotification` from now on, as long as the store lives, on the thread
  /// of `observe(_:_:)`. A second call for a center has no effect.
  public func postNotifications(to center: NotificationCenter = .default) {
    observeForNotifications(center) { store, changes in
      for (reason, changes) in Self.byReason(changes) {
        center.post(
          name: Self.didChangeExternallyNotification, object: store,
          userInfo: [
            Self.changeReasonKey: reason, Self.changedKeysKey: changes.map(\.key),
          ])
      }
    }
  }

  private static func byReason(
    _ changes: [SettingChange]
  ) -> [(reason: Int, changes: [SettingChange])] {
    let external = Dictionary(grouping: changes) { change -> Int? in
      switch change.reason {
      case .local: change.process == .this ? nil : 0
      case .reload: nil
      case .merge: 0
      case .firstMerge: 1
      }
    }
    return [0, 1].compactMap { reason in external[reason].map { (reason, $0) } }
  }
}

extension SettingsStore {
  fileprivate func observeForNotifications(
    _ center: NotificationCenter,
    _ post: @escaping @Sendable (SettingsStore, [SettingChange]) -> Void
  ) {
    observations.add(for: center) {
      observe { [weak self] changes in
        if let self { post(self, changes) }
      }
    }
  }
}

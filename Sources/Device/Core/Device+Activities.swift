// SPDX-License-Identifier: Apache-2.0

import KeepsakeStorage

extension Device {
  /// Handlers of this process's work on the file, through any handle.
  package var activities: Handlers<Activity> { core.shared.activities }

  /// Makes a set, and tells how it went.
  func telling<Value>(
    _ set: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    guard !activities.isEmpty else { return try set() }
    let start = core.storage.isMine ? nil : ContinuousClock.now
    defer { if let start { activities.notify(.set(start.duration(to: .now))) } }
    do throws(KeepsakeError) {
      return try set()
    } catch {
      core.tell(.failed(error.code))
      throw error
    }
  }
}

extension Core {
  /// Tells it when this thread's transaction is over, if it is in one.
  func tell(_ activity: Activity) {
    guard !shared.activities.isEmpty else { return }
    afterTransaction { [shared] in shared.activities.notify(activity) }
  }
}

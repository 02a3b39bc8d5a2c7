// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeDevice
public import KeepsakeInjection
import Synchronization

extension Container {
  /// A copy of this container's registrations for one test, with new objects on in-memory devices.
  /// (A plain child would share the objects that already exist, and their device.)
  ///
  /// Each registration of a `Device` makes an in-memory one, whatever its name, its scope and its
  /// recipe. A recipe of this container throws `KeepsakeError` with `permissionDenied` if it opens
  /// a file, or if it returns a store or device on a file, unless the test has set or registered a
  /// store or device on that file. A recipe should get its device from the container. Devices and
  /// stores that were `set` are not shared: lookups throw until the test sets its own.
  ///
  /// Not detected: a recipe that uses, but does not return, a device that was opened before and
  /// that another object or container holds; and a recipe that opens a file outside its own task,
  /// such as in `Task.detached` or on a `DispatchQueue`.
  ///
  /// - Parameters:
  ///   - clock: the devices' clock.
  ///   - configure: registers and sets the test's replacements.
  /// - Throws: the error of `configure`.
  public func forTest(
    clock: ManualClock = ManualClock(), _ configure: (Container) throws -> Void = { _ in }
  ) throws -> Container {
    Device.refusesFiles.withLock { $0 = { Container.runsCopyForTest } }
    let files = TestFiles()
    let test = freshChild(
      replacing: Device.self, by: { try Device.inMemory(clock: clock) },
      sharing: { Device.of($0) == nil }, admitting: files.admit)
    try configure(test)
    return test
  }
}

/// The files of the devices and stores that a test made or set itself.
private final class TestFiles: Sendable {
  private let own = Mutex<Set<FileID>>([])

  @Sendable func admit(_ object: Any, isOwn: Bool) throws(KeepsakeError) {
    guard let device = Device.of(object), let file = device.file else { return }
    let isKnown = own.withLock { own in
      if isOwn { own.insert(file) }
      return own.contains(file)
    }
    if isKnown { return }
    throw KeepsakeError(
      .permissionDenied, path: device.path,
      "a recipe hands out this open file in a container for a test",
      cure: "take the registered Device from the container, as in `AppSettings(on: c.get())`, or "
        + "`set` the test's own")
  }
}

extension Device {
  /// The device itself, or the device of a store; nil for any other object.
  fileprivate static func of(_ object: Any) -> Device? {
    object as? Device ?? (object as? SettingsStore)?.device
  }
}

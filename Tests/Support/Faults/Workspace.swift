// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues

/// A folder of devices that an attack works on.
package final class Workspace {
  package let folder: String
  let clock = ManualClock()
  /// Keys whose writes have returned.
  var acknowledged: Set<String> = []
  /// Of keys that several writes set: the last value whose write has returned, and then those whose
  /// writes have failed since.
  var told: [String: [StoredValue?]] = [:]
  /// Whether what was told as failed may be done: a commit that is in the log is found there when
  /// the file is opened again, and a file that has its name keeps it.
  var mayBeDone = false

  package init(_ folder: String) throws {
    self.folder = Location.real(folder)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }

  /// The same files in another folder; no program may have any of them open.
  func copied(to other: String) throws -> Workspace {
    if FileManager.default.fileExists(atPath: other) {
      try FileManager.default.removeItem(atPath: other)
    }
    try FileManager.default.copyItem(atPath: folder, toPath: other)
    let copy = try Workspace(other)
    copy.clock.milliseconds = clock.milliseconds
    return copy
  }

  func path(_ name: String) -> String { folder + "/" + name }
  func url(_ name: String) -> URL { URL(fileURLWithPath: path(name)) }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  func open(
    _ name: String, hooks: OpeningHooks = OpeningHooks()
  ) throws -> Device {
    try Device(
      path: path(name), access: .existing, busyTimeout: Device.defaultBusyTimeout,
      clock: clock.wallClock, folder: nil, identity: ReplicaID(rawValue: 1), hooks: hooks)
  }

  /// Makes a device.
  func make(_ name: String, id: Int64) throws -> Device {
    try Device(
      path: path(name), access: .create, busyTimeout: Device.defaultBusyTimeout,
      clock: clock.wallClock, folder: nil, identity: ReplicaID(rawValue: id))
  }

  /// Opens a file as its application would, and demands that `kvsync doctor` finds nothing in it.
  ///
  /// - Parameter expected: what may be found.
  func examine(
    _ name: String, hooks: OpeningHooks = OpeningHooks(), allowing expected: Set<Finding.Kind> = []
  ) throws -> DeviceState {
    do {
      let device = try open(name, hooks: hooks)
      let findings = try device.examine().filter { !expected.contains($0.kind) }
      try demand(findings.isEmpty, "\(name): the doctor finds \(findings.map(\.problem))")
      return try DeviceState(device)
    } catch let error as KeepsakeError {
      throw Complaint("\(name) cannot be opened and read: \(error)")
    }
  }
}

/// What an application reads of a device.
struct DeviceState: Equatable {
  var values: [Address: TaggedCell] = [:]
  var defaults: [String: [DefaultValue]] = [:]

  init(_ device: Device) throws {
    try device.forEachEntry { values[$0.address] = $0.content.ifValue }
    for store in try device.seededStores() {
      defaults[store] = try device.defaults(store: store)
    }
  }

  /// What other devices get.
  var synced: [Address: TaggedCell] { values.filter { StoreName.isSynced($0.key.store.string) } }

  subscript(_ key: String) -> StoredValue? { values[Address(store: "cloud", key: key)]?.value }
}

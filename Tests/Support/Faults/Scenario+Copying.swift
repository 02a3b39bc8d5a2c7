// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport

extension Workspace {
  fileprivate static let backup = "a.backup-2023-11-14"

  /// A device, its backup, and a value since.
  fileprivate func furnishWithBackup() throws {
    let device = try furnish("a")
    try device.backUpToday()
    try device.set("since", "v")
  }

  /// Overwrites pages of a file that nothing has open.
  fileprivate func damage(_ name: String) throws {
    var bytes = try Data(contentsOf: url(name))
    for place in 1024..<bytes.count where place % 5 == 0 { bytes[place] = 0xA5 }
    try bytes.write(to: url(name))
  }

  /// Demands that nothing is in the folder but these files and their logs.
  func demandOnly(_ files: [String]) throws {
    let others = try names.filter { name in
      !files.contains { name == $0 || name == $0 + "-wal" || name == $0 + "-shm" }
    }
    try demand(others.isEmpty, "left over: \(others)")
  }
}

extension Scenario {
  static let migration = Scenario(name: "migration") { space in
    try space.make("old", id: 1).set("theme", "dark")
  } run: { space in
    try space.open("old", hooks: LaterVersion.hooks).set("late", "v")
    space.acknowledged.insert("late")
  } check: { space, isDone in
    let state = try space.examine("old", hooks: LaterVersion.hooks)
    try demand(state["theme"] == "dark", "a value is lost")
    try demand(
      (state["late"] != nil) == space.acknowledged.contains("late"),
      "a write is not as it was told")
  }

  static let backup = copy("backup") { try $0.backup(to: URL(fileURLWithPath: $1)) }
  static let clone = copy("clone") { try $0.clone(to: $1, identity: ReplicaID(rawValue: 2)) }

  private static func copy(
    _ name: String, _ make: @escaping @Sendable (Device, String) throws -> Void
  ) -> Scenario {
    Scenario(name: name) {
      try $0.furnish("a")
    } run: { space in
      // Whoever is told that a copy is there, and may go, removes it and makes another.
      if space.mayBeDone, space.exists("copy") {
        try FileManager.default.removeItem(at: space.url("copy"))
      }
      try make(space.open("a"), space.path("copy"))
    } check: { space, isDone in
      let state = try space.examineFurnished("a")
      try space.demandOnly(["a", "copy"])
      let isThere = space.exists("copy")
      try demand(isThere || !isDone, "the copy is missing")
      try demand(!isThere || isDone || space.mayBeDone, "the copy is there")
      if isThere { try demand(try space.examine("copy") == state, "the copy is another") }
    }
  }

  static let restoration = Scenario(name: "restoration") {
    try $0.furnishWithBackup()
  } run: { space in
    try Device.restore(
      at: space.url("a"), from: space.url(Workspace.backup), clock: space.clock.wallClock)
  } check: { space, isDone in
    let state = try space.examineFurnished("a")
    try space.demandOnly(["a", Workspace.backup])
    let isRestored = state["since"] == nil
    try demand(isRestored || !isDone, "the file is the old one")
    try demand(!isRestored || isDone || space.mayBeDone, "the file is the new one")
  }

  static let recovery = Scenario(name: "recovery") { space in
    try space.furnishWithBackup()
    try space.damage("a")
  } run: { space in
    let aside = try Device.recover(at: space.url("a"), clock: space.clock.wallClock) { damage in
      guard let backup = damage.backups.first else { throw Complaint("no backup is found") }
      return .restore(backup)
    }
    try demand(aside != nil || space.mayBeDone, "the damage was not found")
  } check: { space, isDone in
    try demand(!space.exists("a.recovery"), "the lock of a recovery was left")
    _ = try space.examine(Workspace.backup)
    let aside = try space.names.filter {
      $0.hasPrefix("a.corrupt-") && !$0.hasSuffix("-wal")
    }
    if isDone {
      try space.examineRestored()
      try demand(aside.count == 1, "the damaged file was not kept: \(aside)")
      // It is sound now.
      try Scenario.soundRecovery.run(space)
    } else {
      try demand(aside.isEmpty || space.mayBeDone, "the damaged file has another name")
      try demand(space.exists("a"), "the damaged file is gone")
    }
  }

  /// What cannot be read at the moment is not put aside.
  static let soundRecovery = Scenario(name: "sound-recovery") {
    try $0.furnishWithBackup()
  } run: { space in
    let aside = try Device.recover(at: space.url("a"), clock: space.clock.wallClock) { damage in
      throw Complaint("a sound file is taken for a damaged one: \(damage.error)")
    }
    try demand(aside == nil, "a sound file was put aside")
  } check: { space, _ in
    try demand(try space.examineFurnished("a")["since"] == "v", "a value is gone")
    try space.demandOnly(["a", Workspace.backup])
  }
}

extension Workspace {
  /// The file that was put aside is a finding of the doctor's.
  fileprivate func examineRestored() throws {
    let state = try examine("a", allowing: [.leftover])
    try demand(state["a0"] == 0 && state["since"] == nil, "this is not the backup")
  }
}

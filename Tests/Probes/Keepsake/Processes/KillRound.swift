// SPDX-License-Identifier: Apache-2.0

import Faults
import Foundation
import Keepsake
import KeepsakeCommandLine
import KeepsakeSync

/// A folder with the files of a work that is killed: `a`, its partner `b`, and the copy `c` of a
/// clone.
struct KillRound {
  /// The entries of a file, with tombstones as nil.
  typealias State = [Address: TaggedCell?]

  let folder: String

  static func path(_ name: String, in folder: String) -> String { "\(folder)/\(name).keepsake" }

  func path(_ name: String) -> String { Self.path(name, in: folder) }
  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
  func open(_ name: String) throws -> Device { try Device(path: path(name), access: .existing) }

  /// Opens a file as its application would; `kvsync doctor` must find nothing in it.
  func examine(_ name: String) throws -> State {
    do {
      let device = try open(name)
      let findings = try device.examine()
      try demand(findings.isEmpty, "\(name): the doctor finds \(findings.map(\.problem))")
      var state = State()
      try device.forEachEntry { state[$0.address] = .some($0.content.ifValue) }
      return state
    } catch let error as KeepsakeError {
      throw Complaint("\(name) cannot be opened and read: \(error)")
    }
  }

  /// Merges both, which have to hold the same then; a second merge must change nothing.
  @discardableResult
  func converge() throws -> State {
    let report = try open("a").merge(with: open("b"))
    try demand(report.hasConverged, "a merge ends without an agreement")
    let (a, b) = (try examine("a"), try examine("b"))
    // Either may have collected its tombstones.
    try demand(a.compactMapValues { $0 } == b.compactMapValues { $0 }, "the two differ")
    let again = try open("a").merge(with: open("b"))
    try demand(
      again.changes.isEmpty && again.events.isEmpty, "a second merge changes something")
    return a
  }
}

/// The files that every round begins with.
struct RoundTemplate {
  private static let count = 200

  let round: KillRound
  let before: [String: KillRound.State]
  /// The entries of both files after a merge.
  let merged: KillRound.State
  /// The path of the lines to import.
  let lines: String
  private let folder: String

  init(in folder: String) throws {
    self.folder = folder
    lines = folder + "/lines"
    try Self.lines.write(toFile: lines, atomically: false, encoding: .utf8)
    round = KillRound(folder: folder + "/template")
    try FileManager.default.createDirectory(
      atPath: round.folder, withIntermediateDirectories: false)
    try Self.furnish(round)
    before = ["a": try round.examine("a"), "b": try round.examine("b")]
    let copy = try Self.copied(round, to: folder + "/merged")
    merged = try copy.converge()
  }

  /// Makes two devices that have synced, and have written again since.
  private static func furnish(_ round: KillRound) throws {
    let devices = try ["a", "b"].map { try Device(path: round.path($0)) }
    let stores = try devices.map { try CloudKeyValueStore(on: $0) }
    let text = String(repeating: "x", count: 300)
    for (store, name) in zip(stores, ["a", "b"]) {
      try store.transaction {
        for number in 0..<count { try store.write(.string(text), for: "\(name) \(number)") }
      }
    }
    try devices[0].merge(with: devices[1])
    for (store, name) in zip(stores, ["a", "b"]) {
      try store.transaction {
        for number in 0..<count / 2 { try store.write(nil, for: "\(name) \(number)") }
      }
    }
    try devices[0].merge(with: devices[1])
    for (store, name) in zip(stores, ["a", "b"]) {
      try store.transaction {
        for number in 0..<count { try store.write(.string(name), for: "new \(name) \(number)") }
        for number in 0..<50 { try store.write(.string(name), for: "both \(number)") }
      }
    }
  }

  private static let lines = (0..<importedCount).map {
    #"{"key":"imported \#($0)","type":"string","value":"\#($0)"}"# + "\n"
  }.joined()
  static let importedCount = 2000

  /// Makes a new round, and removes the files of the last one of this name.
  func newRound(named name: String = "round") throws -> KillRound {
    try Self.copied(round, to: "\(folder)/\(name)")
  }

  var lastRound: KillRound { KillRound(folder: folder + "/round") }

  private static func copied(_ round: KillRound, to folder: String) throws -> KillRound {
    if FileManager.default.fileExists(atPath: folder) {
      try FileManager.default.removeItem(atPath: folder)
    }
    try FileManager.default.copyItem(atPath: round.folder, toPath: folder)
    return KillRound(folder: folder)
  }
}

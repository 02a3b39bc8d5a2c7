// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeSync

/// A folder with the files that are worked on while the work is killed: `a`, its partner `b`, in a
/// clone's case the copy `c`.
struct Round {
  /// What a file holds, tombstones as nil.
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

  /// Both hold the same after a merge, and another one changes nothing.
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

/// What every round begins with.
struct Template {
  private static let count = 200

  let round: Round
  let before: [String: Round.State]
  /// What both hold when they have been merged.
  let merged: Round.State
  /// What is imported.
  let lines: String
  private let folder: String

  init(in folder: String) throws {
    self.folder = folder
    lines = folder + "/lines"
    try Self.lines.write(toFile: lines, atomically: false, encoding: .utf8)
    round = Round(folder: folder + "/template")
    try FileManager.default.createDirectory(
      atPath: round.folder, withIntermediateDirectories: false)
    try Self.furnish(round)
    before = ["a": try round.examine("a"), "b": try round.examine("b")]
    let copy = try Self.copied(round, to: folder + "/merged")
    merged = try copy.converge()
  }

  /// Two devices that have met, and have something for each other again.
  private static func furnish(_ round: Round) throws {
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

  /// A new round; what was of the last one of this name goes.
  func newRound(named name: String = "round") throws -> Round {
    try Self.copied(round, to: "\(folder)/\(name)")
  }

  var lastRound: Round { Round(folder: folder + "/round") }

  private static func copied(_ round: Round, to folder: String) throws -> Round {
    if FileManager.default.fileExists(atPath: folder) {
      try FileManager.default.removeItem(atPath: folder)
    }
    try FileManager.default.copyItem(atPath: round.folder, toPath: folder)
    return Round(folder: folder)
  }
}

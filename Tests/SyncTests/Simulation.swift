// SPDX-License-Identifier: Apache-2.0
//
// Random histories on real files, beside a model that knows nothing of cursors, tokens or SQL: each
// device is a dictionary, a meeting is the join of two dictionaries, a copied file a copied
// dictionary.

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@testable import KeepsakeSync

/// The order of writes, written down a second time and in other words.
private func wins(_ a: Entry, over b: Entry) -> Bool {
  func rank(_ entry: Entry) -> [Int64] {
    [entry.stamp.rawValue, entry.origin.rawValue, entry.content.tag]
  }
  if rank(a) != rank(b) { return rank(b).lexicographicallyPrecedes(rank(a)) }
  switch (a.content.cell, b.content.cell) {
  case (.text(let a), .text(let b)): return Array(b.utf8).lexicographicallyPrecedes(Array(a.utf8))
  case (.integer(let a), .integer(let b)): return a > b
  default: return false
  }
}

final class Simulation {
  typealias Model = [Address: Entry]

  private(set) var generator: SeededGenerator
  private let folder: TemporaryFolder
  private var devices: [Device?] = []
  private var models: [Model] = []
  /// Every write that a device, or whoever told it, has ever known; only kept for collection.
  private var known: [Set<Entry>] = []
  /// What a device knew when it collected a tombstone.
  private var gone: [(address: Address, known: Set<Entry>)] = []
  private let clocks: [ManualClock]
  private(set) var script: [String] = []
  private var photos: [String] = []
  private let chunkSize: Int
  /// Whether old tombstones go. Copies then may bring back what was deleted, so there are none.
  private let collects: Bool

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    folder = try TemporaryFolder()
    let count = Int.random(in: 2...5, using: &generator)
    collects = generator.chance(33)
    chunkSize = [1, 3, 1000].randomElement(using: &generator) ?? 1
    clocks = (0..<count).map { _ in ManualClock() }
    models = Array(repeating: [:], count: count)
    known = Array(repeating: [], count: count)
    for place in 0..<count {
      clocks[place].milliseconds += Int64.random(in: -60_000...60_000, using: &generator)
      devices.append(nil)
      try open(place)
    }
  }

  var count: Int { devices.count }

  private func path(_ place: Int) -> String { folder.path + "/\(place).keepsake" }

  private func open(_ place: Int) throws {
    devices[place] = try Device(
      path: path(place), access: .create, busyTimeout: .seconds(5), clock: clocks[place].wallClock,
      folder: nil, identity: .random(using: &generator))
  }

  private func device(_ place: Int) throws -> Device { try #require(devices[place]) }

  func step() throws {
    let place = Int.random(in: 0..<count, using: &generator)
    let other = (place + Int.random(in: 1..<count, using: &generator)) % count
    clocks[place].milliseconds += Int64.random(in: -50...3_000, using: &generator)
    switch Int.random(in: 0..<100, using: &generator) {
    case 84..<94 where collects: try collect(place)
    case 0..<50: try write(place)
    case 50..<80: try merge([place, other])
    case 80..<84: try merge(Array(0..<count))
    case 84..<88: try merge([place, other], isOneWay: true)
    case 88..<91: try copy(place, over: other)
    case 91..<94: try restorePhoto(place)
    default: try reopen(place)
    }
  }

  private func write(_ place: Int) throws {
    let store = ["cloud", "cloud:é", "cloud:e\u{301}"].randomElement(using: &generator) ?? "cloud"
    let key = ["a", "b", "é", "e\u{301}", "c"].randomElement(using: &generator) ?? "a"
    let value: StoredValue? =
      generator.chance(25)
      ? nil
      : generator.chance(50)
        ? .integer(.random(in: 0...3, using: &generator))
        : .string(["x", "y", ""].randomElement(using: &generator) ?? "")
    let device = try device(place)
    try device.write([LocalWrite(store: store, key: key, value: value)])
    let entry = try #require(try device.entry(store: store, key: key))
    let address = Address(store: store, key: key)
    script.append("write \(place) \(store)/\(key) \(show(entry))")
    #expect(entry.content == (try TaggedCell(value)))
    #expect(entry.origin == (try device.replica()))
    if let before = models[place][address] { #expect(wins(entry, over: before)) }
    models[place][address] = entry
    known[place].insert(entry)
  }

  func merge(_ places: [Int], isOneWay: Bool = false) throws {
    script.append("merge \(places)\(isOneWay ? " one-way" : "")")
    let list = try places.map { try device($0) }
    let observation = isOneWay || collects ? nil : try photographer(places)
    let report = try Merge.run(
      list, options: MergeOptions(isOneWay: isOneWay, chunkSize: chunkSize), using: &generator)
    observation?.cancel()
    let joined = places.reduce(into: Model()) { joined, place in
      joined.merge(models[place]) { wins($0, over: $1) ? $0 : $1 }
    }
    let all = places.reduce(into: Set()) { $0.formUnion(known[$1]) }
    for place in isOneWay ? places.suffix(1) : places[...] {
      models[place] = joined
      known[place] = all
    }
    if !isOneWay {
      #expect(report.hasConverged)
      let again = try Merge.run(
        list, options: MergeOptions(chunkSize: chunkSize), using: &generator)
      #expect(again.transfers.allSatisfy { $0.received == 0 && $0.changed == 0 })
    }
    for place in places { try check(place) }
  }

  /// Some time passes for all, and one device collects; now and then it waits for one peer less.
  private func collect(_ place: Int) throws {
    let days = Int64([1, 60, 100].randomElement(using: &generator) ?? 1)
    script.append("collect \(place) after \(days) days")
    for clock in clocks { clock.milliseconds += days * 86_400_000 }
    let device = try device(place)
    if generator.chance(50), let peer = try device.peers().randomElement(using: &generator) {
      try device.retire(peer.id)
    }
    let before = try contents(place)
    _ = try device.compact()
    let after = try contents(place)
    for address in before.keys where after[address] == nil { gone.append((address, known[place])) }
    try check(place)
  }

  private func contents(_ place: Int) throws -> Model {
    var found: Model = [:]
    try device(place).forEachEntry { found[$0.address] = $0 }
    return found
  }

  /// Whether a deleted key may have come back: by a write that somebody, who had forgotten the
  /// deletion, had never seen.
  private func mayReturn(_ entry: Entry) -> Bool {
    gone.contains { $0.address == entry.address && !$0.known.contains(entry) }
  }

  /// `cp` of the file of one device over that of another, which so becomes a copy or a rollback.
  private func copy(_ place: Int, over other: Int) throws {
    script.append("copy \(place) over \(other)")
    devices[place] = nil
    devices[other] = nil
    let files = FileManager.default
    try files.removeItem(atPath: path(other))
    try files.copyItem(atPath: path(place), toPath: path(other))
    models[other] = models[place]
    try open(place)
    try open(other)
  }

  /// Copies a device's file in the middle of a meeting, when another one hears of a change: such a
  /// copy knows of the meeting, and not yet what it brought.
  private func photographer(_ places: [Int]) throws -> ObservationToken? {
    guard generator.chance(50), let watched = places.randomElement(using: &generator),
      let copied = places.randomElement(using: &generator)
    else { return nil }
    let copy = folder.path + "/photo\(photos.count)"
    photos.append(copy)
    let source = try device(copied)
    return try device(watched).observe { [path = copy] _ in
      guard !FileManager.default.fileExists(atPath: path) else { return }
      #expect(throws: Never.self) { try source.backUp(to: path) }
    } onFailure: {
      Issue.record($0)
    }
  }

  /// Puts a copy from the middle of a meeting in the place of a device.
  private func restorePhoto(_ place: Int) throws {
    let files = FileManager.default
    guard let photo = photos.filter(files.fileExists).randomElement(using: &generator) else {
      return
    }
    script.append("restore \(photo.suffix(6)) over \(place)")
    devices[place] = nil
    try files.removeItem(atPath: path(place))
    try files.copyItem(atPath: photo, toPath: path(place))
    try open(place)
    models[place] = try contents(place)
  }

  private func reopen(_ place: Int) throws {
    script.append("reopen \(place)")
    devices[place] = nil
    try open(place)
  }

  func check(_ place: Int) throws {
    let found = try contents(place)
    for (address, entry) in found
    where collects && models[place][address]?.content.isTombstone == true && mayReturn(entry) {
      models[place][address] = entry
    }
    try compare(found, models[place], "device \(place) and its model")
  }

  private func compare(_ a: Model, _ b: Model, _ what: String) throws {
    let (left, right) = (comparable(a), comparable(b))
    guard left != right else { return }
    let differences = Set(left.keys).union(right.keys).sorted().filter { left[$0] != right[$0] }
      .map { "\($0): \(show(a[$0])) and \(show(b[$0]))" }
    throw Divergence(description: "\(what)\n" + differences.joined(separator: "\n"))
  }

  /// The model knows of no collection and keeps every tombstone.
  private func comparable(_ model: Model) -> Model {
    collects ? model.filter { !$0.value.content.isTombstone } : model
  }

  private func show(_ entry: Entry?) -> String {
    entry.map { "\($0.content.cell) \($0.stamp) by \($0.origin)" } ?? "nothing"
  }

  struct Divergence: Error, CustomStringConvertible {
    let description: String
  }

  /// Everybody meets until nobody can learn more.
  func settle() throws {
    for _ in 0..<2 { try merge(Array(0..<count)) }
    for place in 0..<count { try check(place) }
    for place in 1..<count { try compare(models[place], models[0], "devices \(place) and 0") }
  }
}

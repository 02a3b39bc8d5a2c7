// SPDX-License-Identifier: Apache-2.0
//
// The devices of a history, in memory or on files. Identities and exchange tokens follow from the
// seed and from what has happened, so a history goes the same way each time.

import Foundation
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues

final class World {
  private let seed: UInt64
  private let storage: History.Storage
  private let folder: TemporaryFolder?
  private var devices: [Device?] = []
  /// In the first place.
  private let hub: (any PlayedHub)?
  let clocks: [ManualClock]
  private var exchanges: UInt64 = 0
  private var saves = 0
  /// The hub, as the devices of an exchange know it.
  private var met: [[Int]: ReplicaID] = [:]
  private var late: (request: HubRequest, from: Int)?

  init(_ history: History, _ makeHub: HubMaker) throws {
    seed = history.seed
    storage = history.storage
    folder = storage == .files ? try TemporaryFolder() : nil
    clocks = (0..<history.count).map { _ in ManualClock() }
    var identities = SeededGenerator(seed: seed)
    hub = history.hasHub ? try makeHub(.random(using: &identities)) : nil
    if hub != nil { devices.append(nil) }
    for place in clocks.indices.dropFirst(devices.count) {
      let identity = ReplicaID.random(using: &identities)
      if storage == .memory {
        devices.append(try Device.inMemory(identity: identity, clock: clocks[place].wallClock))
      } else {
        devices.append(nil)
        try open(place, .create, identity)
      }
    }
  }

  subscript(place: Int) -> Device {
    get throws {
      guard let device = devices[place] else {
        throw ScriptError(description: "device \(place) could not be opened again")
      }
      return device
    }
  }

  /// Lets one no longer wait for another.
  func retire(_ other: Int, at place: Int) throws {
    let id = try id(of: other)
    if let hub, isHub(place) { try hub.retire(id) } else { try self[place].retire(id) }
  }

  /// Its present replica ID.
  func id(of place: Int) throws -> ReplicaID {
    if let hub, isHub(place) { return try hub.id }
    return try self[place].replica()
  }

  func isHub(_ place: Int) -> Bool { hub != nil && place == 0 }

  private func path(_ place: Int) -> String { "\(folder?.path ?? "")/\(place).keepsake" }

  private func open(_ place: Int, _ access: Device.Access, _ identity: ReplicaID) throws {
    devices[place] = try Device(
      path: path(place), access: access, busyTimeout: Device.defaultBusyTimeout,
      clock: clocks[place].wallClock, folder: folder, identity: identity)
  }

  /// Closes a file while `body` changes it, and opens it again.
  private func whileClosed(_ place: Int, _ body: () throws -> Void) throws {
    devices[place] = nil
    try body()
    try open(place, .existing, ReplicaID(rawValue: 0))
  }

  func reopen(_ place: Int) throws {
    if storage == .files, !isHub(place) { try whileClosed(place) {} }
  }

  /// A device's file as it was at one moment.
  enum Image {
    case rows([TableRows])
    case file(String)
    case hub(any Sendable)
  }

  func image(of place: Int) throws -> Image {
    if let hub, isHub(place) { return .hub(try hub.image()) }
    guard let folder, storage == .files else {
      return .rows(try TableRows.all(of: self[place]))
    }
    saves += 1
    let path = "\(folder.path)/saved\(saves)"
    try self[place].backUp(to: path)
    return .file(path)
  }

  func put(_ image: Image, at place: Int) throws {
    switch image {
    case .rows(let tables): try TableRows.put(tables, into: self[place])
    case .file(let source): try replace(place, by: source)
    case .hub(let image): try hub?.restore(image)
    }
  }

  func copy(_ place: Int, over other: Int) throws {
    guard storage == .files else { return try put(image(of: place), at: other) }
    try whileClosed(place) { try replace(other, by: path(place)) }
  }

  private func replace(_ place: Int, by source: String) throws {
    try whileClosed(place) {
      try FileManager.default.removeItem(atPath: path(place))
      try FileManager.default.copyItem(atPath: source, toPath: path(place))
    }
  }

  /// - Parameter onProgress: called after each transaction that has read, or, of an exchange with a
  ///   hub, before each request.
  /// - Returns: nil when it ended with the commit that was to fail; all handles are gone then.
  func meet(
    _ encounter: Encounter, chunkSize: Int, onProgress: (@Sendable () -> Void)? = nil
  ) throws -> MergeReport? {
    exchanges += 1
    let fuse = encounter.crash.map(Fuse.init)
    var options = MergeOptions(
      stores: encounter.stores, isOneWay: encounter.isOneWay, chunkSize: chunkSize)
    var line: HubLine?
    if let hub, encounter.places.contains(where: isHub) {
      line = HubLine(hub, clocks[0], encounter.fault, lastMet: met[encounter.places]) {
        onProgress?()
      }
    } else if let onProgress {
      options.onProgress = { _ in onProgress() }
    }
    let result = Result { try merge(encounter, options, fuse, line) }
    if let line { met[encounter.places] = line.lastMet }
    if let request = line?.late { late = (request, encounter.places[0]) }
    let isBlown = fuse?.isBlown ?? false
    guard isBlown || line?.isCut == true else { return try result.get() }
    if case .success = result {
      throw Divergence(description: "a commit or a request failed, and the exchange went on")
    }
    if isBlown { for place in encounter.places { try reopen(place) } }
    return nil
  }

  /// Lets the hub have a request that it has not got yet.
  ///
  /// - Returns: whose it was; nil when there is none.
  func deliverLate() throws -> Int? {
    guard let (request, place) = late else { return nil }
    late = nil
    _ = try hub?.answer(request, at: clocks[0].milliseconds)
    return place
  }

  private func merge(
    _ encounter: Encounter, _ options: MergeOptions, _ fuse: Fuse?, _ line: HubLine?
  ) throws -> MergeReport {
    var tokens = SeededGenerator(seed: seed &+ exchanges)
    let list = try encounter.places.filter { !isHub($0) }.map { try self[$0] }
    for device in list { try fuse?.attach(to: device) }
    let result = Result {
      guard let line else { return try Merge.run(list, options: options, using: &tokens) }
      return try Merge.run(
        list[0], with: line, options: options,
        page: HubRequest.PageLimit(rows: options.chunkSize), using: &tokens)
    }
    for device in list { try fuse?.detach(from: device) }
    return try result.get()
  }

  /// What has lost on a device, by its conflict log.
  func losses(_ place: Int) throws -> [Oracle.Loss] {
    guard !isHub(place) else { return [] }
    return try self[place].conflicts().map(Oracle.Loss.init)
  }

  /// What a device has.
  func facts(_ place: Int) throws -> Facts {
    if let hub, isHub(place) {
      var facts = Facts(id: ReplicaID(rawValue: 0), clock: .zero)
      for row in try hub.rows { facts.shown[row.entry.address] = row.entry }
      facts.held = try hub.held
      return facts
    }
    let replica = try self[place].core.access { try ReplicaState($0) }
    var facts = Facts(id: replica.id, clock: replica.last)
    try self[place].forEachEntry { facts.shown[$0.address] = $0 }
    facts.held = Set(try self[place].core.access { try Held.entries($0) })
    return facts
  }
}

/// What is seen of a device from outside.
struct Facts {
  let id: ReplicaID
  /// The largest timestamp that it has accepted.
  let clock: HybridTimestamp
  var shown: [Address: Entry] = [:]
  var held: Set<Entry> = []

  /// Whether it holds a write that it does not show; a hub compares no values.
  func withholds(_ entry: Entry) -> Bool {
    let loss = Oracle.Loss(entry)
    return shown[entry.address].map(Oracle.Loss.init) != loss
      && held.contains { Oracle.Loss($0) == loss }
  }

  /// Whether anything is held that will count.
  var waits: Bool {
    held.contains { entry in shown[entry.address].map { wins(entry, over: $0) } ?? true }
  }
}

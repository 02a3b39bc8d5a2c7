// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// One merge that is under way, with leases on the files that it writes.
struct MergeRun<Generator: RandomNumberGenerator> {
  let devices: [Device]
  /// The devices, and after them a hub, if it is merged with one.
  let parties: [any Party]
  let options: MergeOptions
  /// What it has committed so far.
  var report = MergeReport()
  /// Gives tokens and identities.
  var generator: Generator
  /// What it is about.
  var stores: [ByteText] = []
  /// Pairs of devices.
  var exchanges: [Exchange] = []
  /// Conflicts that each device's log had dropped before.
  private let dropped: [Int64]

  init(
    _ devices: [Device], _ hub: HubParty? = nil, _ options: MergeOptions, _ generator: Generator
  ) throws(KeepsakeError) {
    (self.devices, self.options, self.generator) = (devices, options, generator)
    let files = devices.map { FileParty(device: $0, takesLeases: hub != nil) }
    parties = files + (hub.map { [$0] } ?? [])
    dropped = try Self.droppedConflicts(devices)
  }

  /// Merges, again and again where versions that know no lease merge the same files.
  mutating func toItsEnd() throws(KeepsakeError) {
    defer { reportDropped(since: dropped) }
    for _ in 0..<100 {
      do throws(KeepsakeError) {
        if try meetAsRemembered() { return }
        stores = try MergedStores.of(parties, only: options.stores)
        return try options.isOneWay ? oneWay() : everyWay()
      } catch {
        guard error.cause is MergeRetry.Interruption else { throw error }
        // It needs a moment.
        parties.last?.pause(.seconds(.random(in: 0.005...0.05, using: &generator)))
      }
    }
    throw MergeRetry.interrupted(devices[0].path)
  }
}

// MARK: - Every way

extension MergeRun {
  fileprivate mutating func everyWay() throws(KeepsakeError) {
    exchanges = parties.indices.dropFirst().map { Exchange(parties, 0, $0, stores: stores) }
    try check()
    // A device that cannot be written is found before any is written.
    for device in devices { try device.core.write { _ in ((), []) } }
    try shareRevocations(among: parties.indices)
    try rotateCopies(among: parties.indices)
    for place in devices.indices { try promote(place) }
    for (from, into) in Self.directions(parties.count) { report.expect(from: from, into: into) }
    // A merge without news writes at most that it took place, once a day.
    if try !allUpToDate() {
      for index in exchanges.indices {
        try exchanges[index].introduce()
        try exchanges[index].lookBack()
      }
      let isReversed = options.firstReadsFirst && parties.count == 2
      let order = Self.directions(parties.count)
      for (from, into) in isReversed ? order.reversed() : order {
        try pull(from, into)
      }
      // The device that was written last has not been read since: its cursors have at least to pass
      // the echo. Observers that answer each other could go on for ever; the next merge brings the
      // rest.
      var patience = 8 * exchanges.count
      while patience > 0,
        let next = exchanges.indices.compactMap({ index in
          exchanges[index].waiting.min().map { (index + 1, $0) }
        }).first
      {
        patience -= 1
        let (outer, into) = next
        try pull(into == 0 ? outer : 0, into)
      }
    }
    for exchange in exchanges {
      try exchange.acknowledge()
      try exchange.note()
      try settle(exchange)
    }
    try noteHub()
    report.waiting = try waiting()
    report.hasConverged = try haveConverged()
  }

  func haveConverged() throws(KeepsakeError) -> Bool {
    guard try nothingIsHeld(), !report.events.contains(where: \.keepsApart) else { return false }
    for exchange in exchanges {
      let hasUnread = try exchange.hasUnread()
      if hasUnread { return false }
    }
    // A store that does not sync keeps no tombstones, so a deletion leaves nothing to read.
    let local = stores.filter { !StoreName.isSynced($0.string) }
    for device in devices.dropFirst() where !local.isEmpty {
      let differs = try Difference.exists(device, devices[0], stores: local)
      if differs { return false }
    }
    return true
  }

  private func allUpToDate() throws(KeepsakeError) -> Bool {
    for exchange in exchanges {
      // The first exchange is one even of devices that hold nothing.
      let pair = try exchange.snapshot()
      if pair.isFirst || !pair.isUpToDate { return false }
    }
    return true
  }

  /// For two: there and back. For more: into the first, then out of it.
  static func directions(_ count: Int) -> [(from: Int, into: Int)] {
    count == 2
      ? [(0, 1), (1, 0)] : (1..<count).map { ($0, 0) } + (1..<count).map { (0, $0) }
  }

  /// Reads every page and every size of devices that meet for the first time, and where it is asked
  /// for; where that was done before and nothing but SQLite has written since, only of strangers.
  mutating func check() throws(KeepsakeError) {
    var remembers: [Int: Bool] = [:]
    for exchange in exchanges {
      let pair = try exchange.snapshot()
      guard
        pair.isFirst || options.checksIntegrity && (options.isOneWay || !pair.isUpToDate)
      else { continue }
      for place in [exchange.left, exchange.right] where !parties[place].isHub {
        remembers[place] = remembers[place] ?? true && !pair.areStrangers
      }
    }
    let places = remembers.keys.sorted()
    let measurements = Mutex<[Int: Measurement]>([:])
    try Concurrently.each(places, if: areLarge(places)) {
      [devices, remembers, stores, options] place throws(KeepsakeError) in
      let measurement = try devices[place].checkWhole(remembers: remembers[place] ?? false) {
        try Measurement($0, of: stores, size: options.chunkSize)
      }
      measurements.withLock { $0[place] = measurement }
    }
    for index in exchanges.indices {
      exchanges[index].measurements = measurements.withLock { $0 }
    }
    // Pages that each pull reads: damage since the last check is found before anything is written.
    for device in devices { try device.core.access { _ = try $0.unsent.hasAny(in: "main") } }
    // Whether each can be read beside the other, too.
    for exchange in exchanges where remembers[exchange.right] != nil {
      try checkRows(exchange, into: exchange.right)
      if !options.isOneWay { try checkRows(exchange, into: exchange.left) }
    }
  }

  /// Whether it takes longer to read these files than to begin threads.
  private func areLarge(_ places: [Int]) throws(KeepsakeError) -> Bool {
    for place in places {
      let size = try FileStatus(of: devices[place].core.location.realPath)?.size ?? 0
      if size < 1 << 20 { return false }
    }
    return true
  }

  /// Looks at the rows that `place` is going to read, and at those that they meet.
  private func checkRows(_ exchange: Exchange, into place: Int) throws(KeepsakeError) {
    let (sender, receiver) = (parties[exchange.other(place)], devices[place])
    // Not of two files that were read whole just now. Stores that were never read are of a file
    // that was checked whole, or is read whole.
    let areWhole =
      exchange.measurements[exchange.left] != nil
      && exchange.measurements[exchange.right] != nil
    let cursor = try exchange.side(place).memory.map(\.cursor).filter { $0 > 0 }.min()
    try sender.lend(to: receiver) { () throws(KeepsakeError) in
      guard !areWhole, let cursor else { return }
      try receiver.core.read { connection in
        try RowCheck(connection: connection, sender: sender.name, receiver: receiver.path)
          .run(after: cursor)
      }
    }
  }

  /// Applies held entries that are due; their changes are the first of the report.
  mutating func promote(_ place: Int) throws(KeepsakeError) {
    let device = devices[place]
    let now = device.clock.milliseconds
    let skew = options.clockSkew
    guard try device.core.access({ try Held.isAnyDue($0, now: now, skew: skew) }) else { return }
    let lossLimit = max(0, options.changeLimit - report.conflicts.count)
    let (changes, losses) = try device.core.write { connection in
      let known = try connection.conflictLog.last()
      let changes = try Held.promote(connection, now: now, skew: skew)
      let losses = try connection.conflictLog.conflicts(after: known, limit: lossLimit)
      return ((changes, losses), changes)
    }
    report.conflicts += losses.map { MergeReport.DeviceConflict(into: place, conflict: $0) }
    let room = options.changeLimit - report.changes.count
    report.changes += changes.prefix(room).map { MergeReport.DeviceChange(into: place, change: $0) }
    report.omittedChanges += max(0, changes.count - room)
  }
}

// SPDX-License-Identifier: Apache-2.0

#if Page
  import Foundation
  import KeepsakeCommandLine
  import KeepsakeDevice
  import KeepsakeSync
  import KeepsakeValues

  extension PageEndpoints {
    /// The maximum number of rows or conflicts in an answer.
    private static let most = 200

    func read(_ path: String, _ query: PageQuery) throws -> JSON {
      switch path {
      case "/api/state": return try state()
      case "/api/keys": return try keys(query)
      case "/api/key":
        let report = try KeyReport(of: query.address(), on: device(query).device)
        return Preview.texts(try report.json)
      case "/api/conflicts": return try conflicts(device(query).device)
      case "/api/peers": return try peers(device(query).device)
      case "/api/doctor": return try doctor(device(query))
      case "/api/growth": return try growth(device(query))
      default: throw Self.nothing(path)
      }
    }

    func device(_ query: PageQuery, _ name: String = "device") throws -> OpenDevice {
      let number = try query.number(name)
      guard devices.indices.contains(number) else {
        throw PageProblem.malformed("there is no device \(number)")
      }
      return devices[number]
    }

    private func state() throws -> JSON {
      .object([
        "edit": .boolean(isEditable), "devices": .array(try devices.map(state)),
      ])
    }

    private func state(_ open: OpenDevice) throws -> JSON {
      var counts: [(store: ByteText, count: Int64)] = []
      for item in try open.index.current(open.device).items {
        if counts.last?.store != item.address.store { counts.append((item.address.store, 0)) }
        counts[counts.count - 1].count += 1
      }
      let conflicts = try open.device.lastConflict()
      return .object([
        "path": .string(open.path),
        "replica": .string(try open.device.replica().description),
        "watches": .boolean(open.device.seesOthers),
        "lastConflict": .integer(conflicts),
        "stores": .array(
          counts.map { store, count in
            .object([
              "name": .string(store.string), "keys": .integer(count),
              "syncs": .boolean(StoreName.isSynced(store.string)),
            ])
          }),
      ])
    }

    // MARK: - Keys

    private func keys(_ query: PageQuery) throws -> JSON {
      let open = try device(query)
      let index = try open.index.current(open.device)
      var places = index.places(
        of: query.optionalText("query") ?? "", store: query.optionalText("store"))
      if query.optionalText("order") == "newest" {
        let dates = places.map { ($0, index.items[$0].timestamp ?? .zero) }
        places = dates.sorted { $0.1 > $1.1 }.map(\.0)
      }
      let first = try max(query.number("first"), 0)
      let count = min(try query.number("count"), Self.most)
      let rows = try places.dropFirst(first).prefix(max(count, 0)).compactMap { place in
        try row(index.items[place].address, open.device).map(JSON.object)
      }
      return .object(["total": .integer(Int64(places.count)), "rows": .array(rows)])
    }

    /// - Returns: nil if the key no longer exists.
    private func row(_ address: Address, _ device: Device) throws -> [JSON.Member]? {
      let (store, key) = (address.store.string, address.key.string)
      if let entry = try device.entry(store: store, key: key), !entry.content.isTombstone {
        return Preview.entry(entry)
      }
      return try device.seed(store: store, key: key).map { try Preview.seed(address, $0.value) }
    }

    // MARK: - Conflicts, peers, findings, growth

    private func conflicts(_ device: Device) throws -> JSON {
      let all = try device.conflicts()
      let shown = try all.suffix(Self.most).reversed().map { conflict in
        Preview.conflict(
          conflict, try device.entry(store: conflict.store, key: conflict.key))
      }
      return .object([
        "total": .integer(Int64(all.count)),
        "open": .integer(Int64(all.count { !$0.isResolved })),
        "dropped": .integer(try device.droppedConflicts()), "conflicts": .array(shown),
      ])
    }

    private func peers(_ device: Device) throws -> JSON {
      let peers = try device.peers().reversed().map { peer in
        let lacks = try peer.stores.map { progress in
          let lack = try device.changes(
            of: progress.store, after: progress.sent, except: peer.id)
          return JSON.object([
            "store": .string(progress.store), "count": .integer(Int64(lack.count)),
            "since": lack.since.map { Shown.time($0.date) },
          ])
        }
        return JSON.object(Shown.peer(peer) + [JSON.Member("lacks", .array(lacks))])
      }
      return .object(["peers": .array(peers)])
    }

    private func doctor(_ open: OpenDevice) throws -> JSON {
      let findings = try common.open(open.path, .readOnly).examine(repairs: false)
      return .object([
        "findings": .array(findings.map(Shown.finding)),
        "sqlite": .string(SQLiteVersion.text),
        "walResetBug": .boolean(SQLiteVersion.hasResetBug),
      ])
    }

    /// The number of keys last written in each of 60 equal intervals, from the first write to now.
    private func growth(_ open: OpenDevice) throws -> JSON {
      let index = try open.index.current(open.device)
      let times = index.items.compactMap { $0.timestamp?.milliseconds }
      let end = max(times.max() ?? 0, common.clock.milliseconds)
      let start = times.min() ?? end
      var counts = [Int64](repeating: 0, count: 60)
      for time in times { counts[Int((time - start) * 60 / (end - start + 1))] += 1 }
      return .object([
        "start": Shown.time(Date(milliseconds: start)), "end": Shown.time(Date(milliseconds: end)),
        "counts": .array(counts.map(JSON.integer)),
        "bytes": try bytes(open.path).map(JSON.integer),
      ])
    }

    private func bytes(_ path: String) throws -> Int64? {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
      return (attributes[.size] as? NSNumber)?.int64Value
    }
  }
#endif

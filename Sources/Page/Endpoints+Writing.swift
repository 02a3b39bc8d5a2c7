// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeCommandLine
  import KeepsakeDevice
  import KeepsakeSync
  import KeepsakeValues

  extension Endpoints {
    func write(_ path: String, _ body: Query) throws -> JSON {
      if path == "/api/merge" { return try merge(body) }
      try edits.check()
      switch path {
      case "/api/set": return try set(body)
      case "/api/delete":
        return try edit(body, try body.address(), "deleted") {
          [LocalWrite(store: $0.store.string, key: $0.key.string, value: nil)]
        }
      case "/api/undo": return try undo()
      case "/api/restore": return try restore(body)
      default: throw Self.nothing(path)
      }
    }

    private func set(_ body: Query) throws -> JSON {
      let address = try body.address()
      guard let type = Words.ValueType(rawValue: try body.text("type")) else {
        throw Problem.malformed("it has no type of a value")
      }
      let value = try Words.value(try body.text("value"), type)
      return try edit(body, address, "set") {
        [LocalWrite(store: $0.store.string, key: $0.key.string, value: value)]
      }
    }

    /// Writes to a key that is still as the page has shown it.
    private func edit(
      _ body: Query, _ address: Address, _ deed: String,
      _ writes: (Address) throws -> [LocalWrite]
    ) throws -> JSON {
      let open = try device(body)
      let seen = body.optionalText("stamp") ?? ""
      let edit = try open.device.transaction {
        let before = try open.entry(address)
        guard seen == Self.stamp(before) else {
          throw Problem(
            .conflict, "the key was written meanwhile", cure: "look at its value, then try again")
        }
        try open.device.write(writes(address))
        return Edit(
          device: try body.number("device"), address: address,
          before: before?.content ?? .tombstone, stamp: try open.entry(address)?.timestamp,
          deed: deed)
      }
      edits.add(edit)
      return .object(["undo": edit.json])
    }

    /// What the page knows an entry by; of none, and of one that is deleted, nothing.
    private static func stamp(_ entry: Entry?) -> String {
      entry.flatMap { $0.content.isTombstone ? nil : $0.timestamp.description } ?? ""
    }

    /// Takes back what this page wrote last, unless somebody has written the key since.
    private func undo() throws -> JSON {
      guard let edit = edits.take() else {
        throw Problem(.conflict, "there is nothing to undo", cure: "edit something first")
      }
      let open = devices[edit.device]
      try open.device.transaction {
        guard try open.entry(edit.address)?.timestamp == edit.stamp else {
          throw Problem(
            .conflict, "the key was written since, so the edit stays",
            cure: "look at its value, and set it")
        }
        try open.device.write([
          LocalWrite(
            store: edit.address.store.string, key: edit.address.key.string, content: edit.before)
        ])
      }
      return .object(["undone": edit.json, "undo": edits.last.map(\.json) ?? .null])
    }

    private func restore(_ body: Query) throws -> JSON {
      let open = try device(body)
      let id = try body.number("id")
      guard let conflict = try open.device.conflict(id: Int64(id)) else {
        throw Problem(
          .notFound, "there is no conflict \(id) any more", cure: "look at the list again")
      }
      let address = Address(store: conflict.store, key: conflict.key)
      let edit = try open.device.transaction {
        let before = try open.entry(address)?.content ?? .tombstone
        try open.device.restore(conflict)
        return Edit(
          device: try body.number("device"), address: address, before: before,
          stamp: try open.entry(address)?.timestamp, deed: "restored")
      }
      edits.add(edit)
      return .object(["undo": edit.json])
    }

    private func merge(_ body: Query) throws -> JSON {
      let isDryRun = body.flag("dryRun")
      if !isDryRun { try edits.check() }
      let paths = [try device(body, "first").path, try device(body, "second").path]
      try DistinctFiles.check(paths)
      return try MergeFiles(paths, common: common, isOneWay: false, creates: false)
        .merge(MergeOptions(checksIntegrity: !isDryRun), isDryRun: isDryRun).json
    }
  }

  extension OpenDevice {
    fileprivate func entry(_ address: Address) throws -> Entry? {
      try device.entry(store: address.store.string, key: address.key.string)
    }
  }
#endif

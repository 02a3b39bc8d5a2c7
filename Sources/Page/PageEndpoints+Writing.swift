// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeCommandLine
  import KeepsakeDevice
  import KeepsakeSync
  import KeepsakeValues

  extension PageEndpoints {
    func write(_ path: String, _ body: PageQuery) throws -> JSON {
      if path == "/api/merge" { return try merge(body) }
      try checkEditable()
      switch path {
      case "/api/set": try set(body)
      case "/api/delete":
        let address = try body.address()
        try edit(body, address) { open in
          guard try open.entry(address)?.content.isTombstone == false else {
            throw PageProblem(.notFound, "the key is not set", cure: "look at the list again")
          }
          return .tombstone
        }
      case "/api/restore": try restore(body)
      default: throw Self.nothing(path)
      }
      return .object([:])
    }

    /// - Throws: `PageProblem` if the page can only read.
    private func checkEditable() throws {
      guard isEditable else {
        throw PageProblem(
          .forbidden, "this page can only read", cure: "run kvsync open with --edit")
      }
    }

    private func set(_ body: PageQuery) throws {
      let address = try body.address()
      guard let type = ArgumentValue.ValueType(rawValue: try body.text("type")) else {
        throw PageProblem.malformed("it has no type of a value")
      }
      let text = try body.text("value")
      try edit(body, address) { open in
        // The text of a date, among others, is less exact than its value.
        if let content = try open.content(address), let value = content.value,
          ArgumentValue.type(of: value.kind) == type,
          ByteText(Preview.text(value)) == ByteText(text)
        {
          return content
        }
        return try TaggedCell(ArgumentValue.value(text, type))
      }
    }

    /// Writes to a key, unless it has changed since the page has shown it.
    private func edit(
      _ body: PageQuery, _ address: Address, _ content: (OpenDevice) throws -> TaggedCell
    ) throws {
      let open = try device(body)
      try open.device.transaction {
        try Self.check(body, try open.entry(address))
        try open.device.write([
          LocalWrite(
            store: address.store.string, key: address.key.string, content: try content(open))
        ])
      }
    }

    /// - Throws: `PageProblem` if the key has changed since the page has shown it.
    private static func check(_ body: PageQuery, _ present: Entry?) throws {
      guard body.optionalText("stamp") ?? "" == stamp(present) else {
        throw PageProblem(
          .conflict, "the key was written meanwhile", cure: "look at its value, then try again")
      }
    }

    /// Identifies an entry for the page; empty for none, and for one that is deleted.
    static func stamp(_ entry: Entry?) -> String {
      entry.flatMap { $0.content.isTombstone ? nil : "\($0.timestamp) \($0.replicaID)" } ?? ""
    }

    private func restore(_ body: PageQuery) throws {
      let open = try device(body)
      let id = try body.number("id")
      guard let conflict = try open.device.conflict(id: Int64(id)) else {
        throw PageProblem(
          .notFound, "there is no conflict \(id) any more", cure: "look at the list again")
      }
      let address = Address(store: conflict.store, key: conflict.key)
      try open.device.transaction {
        try Self.check(body, try open.entry(address))
        guard try open.device.conflict(id: Int64(id))?.isResolved == false else {
          throw PageProblem(
            .conflict, "the conflict is resolved already", cure: "look at the list again")
        }
        try open.device.restore(conflict)
      }
    }

    private func merge(_ body: PageQuery) throws -> JSON {
      let isDryRun = body.flag("dryRun")
      if !isDryRun { try checkEditable() }
      let paths = [try device(body, "first").path, try device(body, "second").path]
      try DistinctFiles.check(paths)
      let report = try MergeFiles(paths, common: common, isOneWay: false, creates: false)
        .merge(MergeOptions(), isDryRun: isDryRun)
      return Preview.texts(try report.json)
    }
  }

  extension OpenDevice {
    fileprivate func entry(_ address: Address) throws -> Entry? {
      try device.entry(store: address.store.string, key: address.key.string)
    }

    /// The value of a key that was set, or else its seeded default; nil if it has neither.
    fileprivate func content(_ address: Address) throws -> TaggedCell? {
      if let entry = try entry(address), !entry.content.isTombstone { return entry.content }
      let seed = try device.seed(store: address.store.string, key: address.key.string)
      return try seed.map { try TaggedCell($0.value) }
    }
  }
#endif

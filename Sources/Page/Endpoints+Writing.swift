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
      return try edits.inTurn { try editOrUndo(path, body) }
    }

    private func editOrUndo(_ path: String, _ body: Query) throws -> JSON {
      switch path {
      case "/api/set": return try set(body)
      case "/api/delete":
        let address = try body.address()
        return try edit(body, address, "deleted") { open in
          guard try open.entry(address)?.content.isTombstone == false else {
            throw Problem(.notFound, "the key is not set", cure: "look at the list again")
          }
          return .tombstone
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
      let text = try body.text("value")
      return try edit(body, address, "set") { open in
        // What is shown of a date, among others, is less than its value.
        if let content = try open.content(address), let value = content.value,
          Words.type(of: value.kind) == type,
          ByteText(Preview.text(value)) == ByteText(text)
        {
          return content
        }
        return try TaggedCell(Words.value(text, type))
      }
    }

    /// Writes to a key that is still as the page has shown it.
    private func edit(
      _ body: Query, _ address: Address, _ deed: String,
      _ content: (OpenDevice) throws -> TaggedCell
    ) throws -> JSON {
      let open = try device(body)
      let edit = try open.device.transaction {
        let before = try open.entry(address)
        try Self.check(body, before)
        try open.write(try content(open), to: address)
        return Edit(
          device: try body.number("device"), address: address, before: before,
          after: try open.entry(address), deed: deed)
      }
      edits.add(edit)
      return .object(["undo": edit.json])
    }

    /// - Throws: `Problem` if the key is not as the page has shown it.
    private static func check(_ body: Query, _ present: Entry?) throws {
      guard body.optionalText("stamp") ?? "" == stamp(present) else {
        throw Problem(
          .conflict, "the key was written meanwhile", cure: "look at its value, then try again")
      }
    }

    /// What the page knows an entry by; of none, and of one that is deleted, nothing.
    static func stamp(_ entry: Entry?) -> String {
      entry.flatMap { $0.content.isTombstone ? nil : "\($0.timestamp) \($0.replicaID)" } ?? ""
    }

    /// Takes back what this page wrote last, unless somebody has written the key since.
    private func undo() throws -> JSON {
      guard let edit = edits.last else {
        throw Problem(.conflict, "there is nothing to undo", cure: "edit something first")
      }
      do {
        edits.follow(edit, as: try undo(edit, on: devices[edit.device]))
        edits.removeLast()
      } catch {
        // Of a conflict there is nothing to try again.
        if Problem(error).status == .conflict { edits.removeLast() }
        throw error
      }
      return .object(["undone": edit.json, "undo": edits.last.map(\.json) ?? .null])
    }

    /// - Returns: the entry that the key has now.
    private func undo(_ edit: Edit, on open: OpenDevice) throws -> Entry? {
      try open.device.transaction {
        guard try open.entry(edit.address) == edit.after else {
          throw Problem(
            .conflict, "the key was written since, so the edit stays",
            cure: "look at its value, and set it")
        }
        try open.write(edit.before?.content ?? .tombstone, to: edit.address)
        if let conflict = edit.resolved { try open.device.reopen(conflict) }
        return try open.entry(edit.address)
      }
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
        let before = try open.entry(address)
        try Self.check(body, before)
        guard try open.device.conflict(id: Int64(id))?.isResolved == false else {
          throw Problem(
            .conflict, "the conflict is resolved already", cure: "look at the list again")
        }
        try open.device.restore(conflict)
        return Edit(
          device: try body.number("device"), address: address, before: before,
          after: try open.entry(address), deed: "restored",
          resolved: conflict)
      }
      edits.add(edit)
      return .object(["undo": edit.json])
    }

    private func merge(_ body: Query) throws -> JSON {
      let isDryRun = body.flag("dryRun")
      if !isDryRun { try edits.check() }
      let paths = [try device(body, "first").path, try device(body, "second").path]
      try DistinctFiles.check(paths)
      let report = try MergeFiles(paths, common: common, isOneWay: false, creates: false)
        .merge(MergeOptions(checksIntegrity: !isDryRun), isDryRun: isDryRun)
      return Preview.texts(try report.json)
    }
  }

  extension OpenDevice {
    fileprivate func entry(_ address: Address) throws -> Entry? {
      try device.entry(store: address.store.string, key: address.key.string)
    }

    /// What a key has: what was set, or else its seeded default; nil for neither.
    fileprivate func content(_ address: Address) throws -> TaggedCell? {
      if let entry = try entry(address), !entry.content.isTombstone { return entry.content }
      let seed = try device.seed(store: address.store.string, key: address.key.string)
      return try seed.map { try TaggedCell($0.value) }
    }

    fileprivate func write(_ content: TaggedCell, to address: Address) throws {
      try device.write([
        LocalWrite(store: address.store.string, key: address.key.string, content: content)
      ])
    }
  }
#endif

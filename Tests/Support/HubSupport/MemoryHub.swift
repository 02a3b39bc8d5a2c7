// SPDX-License-Identifier: Apache-2.0

import HubStoreSupport
package import KeepsakeDevice
package import KeepsakeHubServer
package import KeepsakeSync
package import KeepsakeValues

/// One account of a hub in memory, with the rules of a served one. One thread at a time.
package final class MemoryHub {
  /// All of the account at one moment.
  package struct Image {
    fileprivate let image: MemoryStore.Image
  }

  package let account: Int64
  /// The system's clock, in milliseconds since 1970.
  package var clock: Int64 = 0
  /// The random bits of marks.
  package var markBits: () -> Int64 = HubMark.randomBits
  package var limits = HubLimits()
  fileprivate let store = MemoryStore()
  fileprivate static let token: [UInt8] = [1]

  package init(account: Int64) throws {
    (self.account) = account
    _ = try store.runNow(
      AccountRules(limits, at: 0).create(account, name: "test", token: Self.token))
  }

  package var image: Image {
    get { Image(image: store.image) }
    set { store.image = newValue.image }
  }

  var rules: LogRules { LogRules(limits, at: clock) }

  func sender(_ replica: ReplicaID?) -> HubSender {
    HubSender(account: account, tokenHash: Self.token, replica: replica?.description ?? "")
  }

  /// Draws bits only for a push that is taken, as the model does.
  func push(_ push: HubPush, by sender: HubSender) throws -> HubPushed? {
    let trial = rules.push(push, by: sender, bits: 1)
    let isTaken = try store.runNow(HubWork(trial.query) { (try trial.rule($0).0 != nil, nil) })
    return isTaken ? try store.runNow(rules.push(push, by: sender, bits: markBits())) : nil
  }

  /// All rows with the vectors, and the account itself.
  package func state(replica: ReplicaID? = nil) throws -> HubState {
    var query = HubQuery(account, isWriting: false)
    query.page = HubPage(after: 0, rows: .max, bytes: .max)
    query.replica = replica?.description
    return try store.runNow(HubWork(query) { ($0, nil) })
  }
}

/// The way to a hub in memory.
package final class MemoryChannel: HubChannel {
  package let account: Int64
  package let name = "(memory hub)"
  private let hub: MemoryHub
  /// Replaces the hub's limit of the bytes of a row by one of the characters of a value.
  package var characterLimit: Int?
  /// Whether answers come with a refusal, and none if nothing is new.
  package var isBrief = false
  package let refused = RefusedRows()
  package private(set) var requests = 0

  package init(_ hub: MemoryHub) {
    self.hub = hub
    account = hub.account
  }

  package func encode(_ entry: Entry, limit: Int) -> [UInt8]? {
    guard case .success(let row) = Result(catching: { try entry.row() }) else { return nil }
    let body = Array(row.text().utf8)
    guard characterLimit != nil else { return body.count > limit ? nil : body }
    guard case .text(let text) = entry.content.cell else { return body }
    return text.count > limit ? nil : body
  }

  package func rows(_ request: HubPageRequest) throws(KeepsakeError) -> HubPageAnswer {
    requests += 1
    return try rethrow { try self.read(request) }
  }

  private func read(_ request: HubPageRequest) throws -> HubPageAnswer {
    guard let cursor = HubMark(text: request.cursor) else { throw HubRefusal.malformed("cursor") }
    var read = HubRead(cursor: cursor, rows: request.rows, bytes: .max)
    (read.after, read.lastNewest) = (request.after, request.newest.flatMap { HubMark(text: $0) })
    read.allVectors = request.allVectors
    if isBrief, request.isConditional { read.unless = cursor }
    let found = try hub.store.runNow(hub.rules.read(read, by: hub.sender(request.replica)))
    var answer = HubPageAnswer(newest: found.newest.text, clock: found.clock)
    guard found.isNew else { return answer }
    answer.rows = try found.rows.map {
      try Entry(row: JSON(parsing: String(decoding: $0.body, as: UTF8.self)))
    }
    answer.lastNumber = found.rows.last?.number
    (answer.isLast, answer.knowsCursor) = (found.isLast, found.knowsCursor)
    answer.rowLimit = characterLimit ?? hub.limits.rowBytes
    answer.deviceMark = found.deviceMark.flatMap { Mark(text: String(decoding: $0, as: UTF8.self)) }
    answer.vectors = try VersionVectors(uniting: found.vectors)
    return answer
  }

  package func push(_ upload: HubUpload) throws(KeepsakeError) -> HubUploadResult {
    requests += 1
    return try rethrow { try self.write(upload) }
  }

  private func write(_ upload: HubUpload) throws -> HubUploadResult {
    guard let base = HubMark(text: upload.base) else { throw HubRefusal.malformed("base") }
    let push = HubPush(
      base: base, newest: upload.request.newest.flatMap { HubMark(text: $0) },
      rows: upload.rows.map {
        HubRow(
          key: Array($0.entry.address.hubKey.utf8), body: $0.body,
          isDeleted: $0.entry.content.isTombstone)
      },
      mark: upload.last.map { Array($0.mark.text.utf8) },
      vectors: upload.last.map { Array($0.vectors.json.text().utf8) })
    guard let pushed = try hub.push(push, by: hub.sender(upload.request.replica)) else {
      return .changed(isBrief ? try read(upload.request) : nil)
    }
    return .taken(newest: pushed.newest.text, isNext: pushed.isNext)
  }

  package func pause(after attempts: Int) {}

  package func forget(_ deletions: [Address], newest: String) throws(KeepsakeError) {
    try rethrow {
      guard let base = HubMark(text: newest) else { return }
      _ = try self.hub.store.runNow(
        self.hub.rules.forget(
          deletions.map { Array($0.hubKey.utf8) }, base: base, by: self.hub.sender(nil)))
    }
  }

  private func rethrow<Value>(_ body: () throws -> Value) throws(KeepsakeError) -> Value {
    do {
      return try body()
    } catch let error as KeepsakeError {
      throw error
    } catch {
      throw KeepsakeError(.malformed, path: name, "\(error)", cure: "none")
    }
  }
}

extension VersionVectors {
  /// As a device unites those of a hub.
  package init(uniting bodies: [[UInt8]]) throws {
    self.init()
    for body in bodies {
      unite(try VersionVectors(JSON(parsing: String(decoding: body, as: UTF8.self))))
    }
  }
}

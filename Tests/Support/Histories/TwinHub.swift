// SPDX-License-Identifier: Apache-2.0

import Dispatch
import HubSupport
package import KeepsakeHubServer
package import KeepsakeSync
package import KeepsakeValues
import Synchronization

/// A hub over a database, and beside it one in memory that gets the same requests: whatever differs
/// between the two ends the history.
package final class TwinHub: PlayedHub {
  /// What holds the database.
  package protocol Keeper {
    var database: any HubDatabase { get throws }
    func image() throws -> any Sendable
    func restore(_ image: any Sendable) throws
  }

  private struct Image: Sendable {
    let memory: MemoryHub.Image
    let kept: any Sendable
  }

  private let memory: MemoryHub
  private let keeper: any Keeper
  private let account: Int64

  /// - Parameter keeper: of a database to which it adds an account.
  package init(_ hub: ReplicaID, _ keeper: any Keeper) throws {
    (memory, self.keeper) = (MemoryHub(hub), keeper)
    account = try Self.result { done in
      try keeper.database.submit({ try $0.addAccount(HubAccount(hub: hub), at: 0) }, done)
    }
  }

  private static func result<Value: Sendable>(
    _ submit: (@escaping @Sendable (Result<Value, any Error>) -> Void) throws -> Void
  ) throws -> Value {
    let (end, box) = (DispatchSemaphore(value: 0), Box<Result<Value, any Error>>())
    try submit { result in
      box.content.withLock { $0 = result }
      end.signal()
    }
    end.wait()
    guard let result = box.content.withLock(\.self) else {
      throw Divergence(description: "there is no result")
    }
    return try result.get()
  }

  private final class Box<Content: Sendable>: Sendable {
    let content = Mutex<Content?>(nil)
  }

  private func read<Value: Sendable>(
    _ work: @escaping @Sendable (any HubTables) throws -> Value
  ) throws -> Value {
    try Self.result { done in try keeper.database.submit(on: account, work, done) }
  }

  package var id: ReplicaID { get throws { try same("account") { try $0.account }.hub } }

  package var rows: [HubAnswer.Row] { get throws { try same("rows", Self.rows) } }

  private static func rows(_ tables: any HubTables) throws -> [HubAnswer.Row] {
    let stores = try tables.lastOfEachStore().mapValues { _ in Int64(0) }
    let limit = HubRequest.PageLimit(rows: .max, bytes: .max)
    return try tables.rows(
      after: stores, and: 0, through: .max, except: EchoRange(), limit
    ).rows.sorted { $0.entry.address < $1.entry.address }
  }

  package var held: Set<Entry> {
    get throws {
      let rows = try same("held rows") { Set(try $0.due(upTo: HybridTimestamp(rawValue: .max))) }
      return Set(rows.map(\.entry))
    }
  }

  private static func tombstones(_ tables: any HubTables, _ limit: Int) throws -> [HubAnswer.Row] {
    let (seq, end) = (try tables.account.seq - 1, HybridTimestamp(rawValue: .max))
    return try tables.lastOfEachStore().keys.sorted().flatMap { store in
      try tables.tombstones(of: store, through: seq, before: end, limit: limit)
    }
  }

  /// What removal leaves, which is then undone.
  private struct Left: Error, Equatable {
    var rows: [HubAnswer.Row]
    var last: [ByteText: Int64]
    var present: [Address: HubAnswer.Row]
  }

  private func compareCollection() throws {
    guard try !same("deletions", { try Self.tombstones($0, 3) }).isEmpty else { return }
    _ = try same("rows without deletions") { tables -> Left in
      // What is known of them before must not stay known.
      let addresses = try Self.rows(tables).map(\.entry.address)
      _ = try tables.rows(at: addresses)
      try tables.remove(try Self.tombstones(tables, 3))
      throw Left(
        rows: try Self.rows(tables), last: try tables.lastOfEachStore(),
        present: try tables.rows(at: addresses))
    }
  }

  /// What work returns; or what it throws, so that nothing of it stays.
  private static func outcome<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch {
      guard let left = error as? Value else { throw error }
      return left
    }
  }

  private func same<Value: Equatable & Sendable>(
    _ name: String, _ work: @escaping @Sendable (any HubTables) throws -> Value
  ) throws -> Value {
    let (expected, found) = (
      try Self.outcome { try memory.read(work) }, try Self.outcome { try read(work) }
    )
    guard found == expected else {
      throw Divergence(description: "other \(name) than in memory: \(found), not \(expected)")
    }
    return found
  }

  package func answer(
    _ request: HubRequest, at now: Int64
  ) throws -> Result<HubAnswer, HubRefusal> {
    let expected = try memory.answer(request, at: now)
    let found: Result<HubAnswer, HubRefusal>
    do {
      found = .success(try read { try HubRules.answer(request, $0, at: now) })
    } catch let refusal as HubRefusal {
      found = .failure(refusal)
    }
    guard found == expected else {
      throw Divergence(description: "another answer than in memory: \(found), not \(expected)")
    }
    _ = (try id, try rows, try held, try same("devices") { try $0.allPeers() })
    try compareCollection()
    return found
  }

  package func retire(_ device: ReplicaID) throws {
    try memory.retire(device)
    try read { try HubRules.retire(device, $0) }
    _ = try same("devices") { try $0.allPeers() }
  }

  package func image() throws -> any Sendable {
    Image(memory: memory.image, kept: try keeper.image())
  }

  package func restore(_ image: any Sendable) throws {
    guard let image = image as? Image else {
      throw ScriptError(description: "not an image of this hub")
    }
    memory.restore(image.memory)
    try keeper.restore(image.kept)
  }
}

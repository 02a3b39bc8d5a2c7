// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import KeepsakeDevice
import KeepsakeHubFile
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeValues
import Synchronization
import TestSupport

/// A folder with a hub's file.
final class HubFolder: Sendable {
  let folder: TemporaryFolder
  var path: String { folder.path + "/hub.sqlite" }
  var log: String { path + "-wal" }

  init() throws { folder = try TemporaryFolder() }

  func open() throws -> HubFile { try HubFile(path: path, busyTimeout: .zero) }

  func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  /// What is in the folder, and in each file; while none has the file open: closing it here would
  /// drop SQLite's locks.
  var contents: [String: Data] {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      return try names.reduce(into: [:]) { $0[$1] = try bytes("\(folder.path)/\($1)") }
    }
  }

  /// The file's size and when it was changed, without opening it.
  var status: (size: Int, time: Date) {
    get throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      return (
        attributes[.size] as? Int ?? 0, attributes[.modificationDate] as? Date ?? .distantPast
      )
    }
  }

  func shell(_ sql: String) throws -> String {
    let ending = try Command.run(Command.find("sqlite3"), [path, sql])
    guard ending.code == 0 else { throw Command.Missing(description: "\(ending)") }
    return ending.stdout
  }
}

extension HubFile {
  func addAccount(_ number: Int64 = 1) async throws -> Int64 {
    try await onDirectory { try $0.addAccount(HubAccount(hub: ReplicaID(rawValue: number)), at: 0) }
  }

  /// Lets rows in, as a push does.
  @Sendable static func put(_ keys: [String], _ tables: any HubTables) throws {
    var account = try tables.account
    let rows = keys.map { key in
      account.seq += 1
      return HubAnswer.Row(
        Entry(
          Address(store: "cloud", key: key), TaggedCell(tag: 1, cell: .text("value of \(key)")),
          timestamp: HybridTimestamp(rawValue: account.seq), origin: ReplicaID(rawValue: 5)),
        seq: account.seq)
    }
    try tables.put(rows)
    try tables.save(account)
  }

  func put(_ keys: String..., in account: Int64) async throws {
    try await onAccount(account) { try Self.put(keys, $0) }
  }

  @Sendable static func keys(_ tables: any HubTables) throws -> [String] {
    try tables.rows(
      after: ["cloud", "cloud:other"].reduce(into: [:]) { $0[ByteText($1)] = 0 }, and: 0,
      through: .max, except: EchoRange(), HubRequest.PageLimit(rows: .max, bytes: .max)
    ).rows.map(\.entry.address.key.string)
  }

  func keys(of account: Int64) async throws -> [String] {
    try await onAccount(account) { try Self.keys($0) }
  }

  /// Lets the thread wait until what follows is submitted, so that it becomes one batch.
  func together(_ submit: () -> Void) {
    let (isThere, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    self.submit({ _ in
      isThere.signal()
      mayGo.wait()
    }) { (_: Result<Void, any Error>) in }
    isThere.wait()
    submit()
    mayGo.signal()
  }
}

/// What was said, in its order.
final class Told: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func note(_ line: String) { lines.withLock { $0.append(line) } }
}

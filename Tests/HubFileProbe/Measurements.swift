// SPDX-License-Identifier: Apache-2.0
//
// Figures of a hub's file alone, without a network: each prints nanoseconds.

import Foundation
import KeepsakeHubFile
import KeepsakeDevice

enum Measurements {
  static func nanoseconds(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    let time = start.duration(to: .now).components
    return (Double(time.seconds) * 1e9 + Double(time.attoseconds) / 1e9) / Double(count)
  }

  private static func withFile(_ body: (HubFile, String) throws -> Double) throws -> Double {
    let folder = try TemporaryFolder()
    let file = try HubFile(path: folder.path + "/hub.sqlite")
    defer { file.close() }
    return try body(file, folder.path)
  }

  /// A push of 10 rows at random over 1,000 accounts, 64 of them under way.
  static func pushes(_ count: Int) throws -> Double {
    try withFile { file, _ in
      let crowd = try Crowd(file, accounts: 1_000, rows: 10, seed: 1)
      try crowd.push(2_000, atOnce: 64)
      return try nanoseconds(count) { try crowd.push(count, atOnce: 64) }
    }
  }

  /// A push of one row, alone.
  static func single(_ count: Int) throws -> Double {
    try withFile { file, _ in
      let crowd = try Crowd(file, accounts: 100, rows: 1, seed: 1)
      try crowd.push(100, atOnce: 1)
      return try nanoseconds(count) { try crowd.push(count, atOnce: 1) }
    }
  }

  /// What the disk takes for each commit at least: 32 KiB appended, and fsync.
  static func fsyncs(_ count: Int) throws -> Double {
    let folder = try TemporaryFolder()
    let descriptor = open(folder.path + "/log", O_CREAT | O_RDWR, 0o600)
    guard descriptor >= 0 else { throw Failure("the file cannot be made") }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 7, count: 32 << 10)
    return try nanoseconds(count) {
      for place in 0..<count {
        guard pwrite(descriptor, block, block.count, off_t(place * block.count)) == block.count,
          fsync(descriptor) == 0
        else { throw Failure("the disk refuses") }
      }
    }
  }

  private static func fill(_ file: HubFile, _ count: Int) throws -> Pusher {
    try file.addAccounts(1)
    var pusher = Pusher(account: 1, id: 7)
    pusher.heard(try file.ask(1, pusher.look))
    let value = String(repeating: "v", count: 80)
    for start in stride(from: 0, to: count, by: 1_000) {
      pusher.heard(try file.ask(1, pusher.push(start..<min(start + 1_000, count), value)))
    }
    return pusher
  }

  /// All rows of an account, page by page.
  static func up(_ count: Int) throws -> Double {
    try withFile { file, _ in try nanoseconds(1) { _ = try fill(file, count) } }
  }

  static func down(_ count: Int) throws -> Double {
    try withFile { file, _ in
      _ = try fill(file, count)
      var reader = Pusher(account: 1, id: 8)
      return try nanoseconds(1) {
        reader.heard(try file.ask(1, reader.look))
        var (place, rows, hasMore) = (Int64(0), 0, true)
        while hasMore {
          let answer = try file.ask(1, reader.page(after: place))
          reader.heard(answer)
          guard let page = answer.page else { throw Failure("there is no page") }
          rows += page.rows.count
          (place, hasMore) = (page.through, page.hasMore)
        }
        guard rows == count else { throw Failure("\(rows) rows came, not \(count)") }
      }
    }
  }

  /// A request without news over so many rows.
  static func nothing(_ count: Int) throws -> Double {
    try withFile { file, _ in
      let pusher = try fill(file, count)
      return try nanoseconds(1_000) { for _ in 0..<1_000 { _ = try file.ask(1, pusher.look) } }
    }
  }
}

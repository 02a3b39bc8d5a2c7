// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// The changes of a device file.
struct FileMutant: CustomStringConvertible {
  let log: Log
  let changes: [Change]

  enum Log: String {
    /// The log beside the file has commits that the file does not have yet.
    case none = "", some = "with a log"
    /// The log's checksums are those of the changed bytes, so that SQLite reads them.
    case checked = "with a log of right checksums"
  }

  enum Change: CustomStringConvertible {
    /// A statement; without an effect if it fails in SQLite.
    case statement(String)
    case page(Int, PageDamage, seed: UInt64)
    case bytes(File, at: Int, [UInt8])
    case length(File, Int)
    case file(File, Data)

    var description: String {
      switch self {
      case .statement(let sql): sql
      case .page(let page, let damage, let seed): "page \(page + 1): \(damage), seed \(seed)"
      case .bytes(let file, let place, let bytes): "bad\(file.rawValue) at \(place): \(bytes)"
      case .length(let file, let length): "bad\(file.rawValue) has \(length) bytes"
      case .file(let file, let data): "bad\(file.rawValue) is new, of \(data.count) bytes"
      }
    }
  }

  /// A file, by the suffix of its name.
  enum File: String, CaseIterable {
    case main = "", log = "-wal", memory = "-shm", journal = "-journal"
  }

  var description: String {
    ([log.rawValue] + changes.map { "\($0)" }).filter { $0 != "" }.joined(separator: "\n")
  }
}

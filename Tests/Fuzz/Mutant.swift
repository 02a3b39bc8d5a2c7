// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// How a device file is changed.
struct Mutant: CustomStringConvertible {
  /// Whether a log lies beside it, with commits that the file does not have yet.
  let hasLog: Bool
  let changes: [Change]

  enum Change: CustomStringConvertible {
    /// Those that SQLite refuses are left out.
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

  /// By what follows the name.
  enum File: String, CaseIterable {
    case main = "", log = "-wal", memory = "-shm", journal = "-journal"
  }

  var description: String {
    (hasLog ? "with a log\n" : "") + changes.map { "\($0)" }.joined(separator: "\n")
  }
}

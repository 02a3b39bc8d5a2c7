// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

let jsonFile = "JSON file, written atomically"
let syncedJSONFile = "JSON file, atomic and synced"

/// A store without a database: a dictionary in memory. Each set encodes all of it into a new file,
/// which replaces the old one.
final class JSONFile<Value: Codable & Sendable> {
  let path: String
  private let values: Mutex<[String: Value]>
  private let synced: Bool
  private let encoder = JSONEncoder()

  /// Makes a file.
  ///
  /// - Parameter synced: whether each set waits for the disk, as Foundation's `.atomic` does.
  init(_ values: [String: Value], synced: Bool = false) throws {
    path = Files.new(".json")
    self.synced = synced
    self.values = Mutex(values)
    try transaction([])
  }

  /// Opens a file.
  init(path: String) throws {
    self.path = path
    synced = false
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    values = Mutex(try JSONDecoder().decode([String: Value].self, from: data))
  }

  func get(_ key: String) -> Value? { values.withLock { $0[key] } }

  func set(_ key: String, _ value: Value) throws { try transaction([(key, value)]) }

  /// Writes the file once.
  func transaction(_ writes: [(String, Value)]) throws {
    try values.withLock { values in
      for (key, value) in writes { values[key] = value }
      try replace(encoder.encode(values))
    }
  }

  private func replace(_ data: Data) throws {
    if synced { return try data.write(to: URL(fileURLWithPath: path), options: .atomic) }
    let new = path + ".new"
    let file = open(new, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let count = data.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    guard file >= 0, close(file) == 0, count == data.count, rename(new, path) == 0 else {
      throw Failure("cannot write \(path)")
    }
  }
}

extension JSONFile<String> {
  /// Makes a file with so many keys.
  convenience init(keys: Int, synced: Bool = false) throws {
    guard keys <= FoundationDefaults.most else { throw Failure(FoundationDefaults.tooMany) }
    try self.init(
      Dictionary(uniqueKeysWithValues: (0..<keys).map { (Fixture.key($0), Fixture.value($0)) }),
      synced: synced)
  }
}

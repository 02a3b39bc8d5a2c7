// SPDX-License-Identifier: Apache-2.0

/// What happens to some devices, from their making on. It can be written down, a line for each
/// step, and played again.
package struct History: Sendable, Equatable {
  package enum Storage: String, Sendable {
    case memory, files
  }

  /// What it was made from; identities and exchange tokens follow from it.
  package var seed: UInt64
  package var count: Int
  /// Entries that one transaction of an exchange takes at most.
  package var chunkSize: Int
  package var storage: Storage
  /// Whether the first place is a hub's.
  package var hasHub = false
  package var steps: [Step]
}

/// What a text that should be a history has instead.
package struct ScriptError: Error, CustomStringConvertible {
  package let description: String
}

extension History: CustomStringConvertible {
  package var description: String {
    """
    seed \(seed)
    devices \(count)
    chunk \(chunkSize)
    storage \(storage.rawValue)\(hasHub ? "\nhub" : "")
    \(steps.map(\.description).joined(separator: "\n"))

    """
  }

  /// Reads what `description` writes; empty lines and those that begin with `#` say nothing.
  package init(parsing text: String) throws {
    self.init(seed: 0, count: 2, chunkSize: 1000, storage: .memory, steps: [])
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where !line.allSatisfy(\.isWhitespace) && !line.hasPrefix("#") {
      do {
        var words = Words(line)
        try read(&words)
        try words.end()
      } catch {
        throw ScriptError(description: "line \(index + 1): \(error): \(line)")
      }
    }
    guard steps.allSatisfy({ ($0.places ?? []).allSatisfy((0..<count).contains) }) else {
      throw ScriptError(description: "a step names a device that is not there")
    }
  }

  private mutating func read(_ words: inout Words) throws {
    switch words.peek {
    case "seed":
      words.skip()
      seed = try words.number()
    case "devices":
      words.skip()
      count = try words.number()
    case "chunk":
      words.skip()
      chunkSize = try words.number()
    case "hub":
      words.skip()
      hasHub = true
    case "storage":
      words.skip()
      let name = try words.next()
      guard let storage = Storage(rawValue: name) else {
        throw ScriptError(description: "memory or files, not \(name)")
      }
      self.storage = storage
    default: steps.append(try Step(&words))
    }
    guard (2...100).contains(count), chunkSize >= 1 else {
      throw ScriptError(description: "two to a hundred devices, and one entry at least in a chunk")
    }
  }
}

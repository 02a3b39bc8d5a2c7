// SPDX-License-Identifier: Apache-2.0

/// The vectors of each push that no later push had read: JSON, which a hub cannot unite. A device
/// that has read up to a number has united all that came until then with its own.
package struct HubVectors: Sendable {
  /// How many there may be.
  private static let most = 100

  /// The number after a push, and its vectors; ascending.
  private var all: [(number: Int64, body: [UInt8])] = []

  /// - Parameter bytes: as a hub stores them.
  package init(_ bytes: [UInt8]?) {
    for line in (bytes ?? []).split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
      guard parts.count == 2, let number = Int64(String(decoding: parts[0], as: UTF8.self)) else {
        continue
      }
      all.append((number, Array(parts[1])))
    }
  }

  /// Those of one push alone.
  package init(_ body: [UInt8], _ number: Int64) { all = [(number, body)] }

  package var bodies: [[UInt8]] { all.map(\.body) }

  package var bytes: [UInt8] {
    all.flatMap { Array("\($0.number) ".utf8) + $0.body + [UInt8(ascii: "\n")] }
  }

  /// Of too many the oldest go: that may log a conflict that is none.
  ///
  /// - Parameters:
  ///   - read: a device with these vectors has read up to this number.
  ///   - number: after its push.
  mutating func replace(upTo read: Int64, by body: [UInt8], _ number: Int64, _ mostBytes: Int) {
    all.removeAll { $0.number <= read }
    var left = mostBytes - body.count
    all = Array(
      all.suffix(Self.most - 1).reversed().prefix {
        left -= $0.body.count
        return left >= 0
      }.reversed())
    all.append((number, body))
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The replica ID of a device: a random number of 62 bits.
public struct ReplicaID: Hashable, Comparable, Sendable {
  /// The number. Its text is 16 hexadecimal digits.
  package let rawValue: Int64

  /// A stored replica ID.
  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// A new replica ID.
  package static func random() -> ReplicaID {
    ReplicaID(rawValue: .random(in: 1..<(1 << 62)))
  }

  /// A new replica ID from a generator.
  package static func random(using generator: inout some RandomNumberGenerator) -> ReplicaID {
    ReplicaID(rawValue: .random(in: 1..<(1 << 62), using: &generator))
  }

  public static func < (a: ReplicaID, b: ReplicaID) -> Bool {
    a.rawValue < b.rawValue
  }
}

extension ReplicaID: CustomStringConvertible {
  /// 16 hexadecimal digits.
  public var description: String { HexNumber.text(rawValue) }
}

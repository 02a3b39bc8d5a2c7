// SPDX-License-Identifier: Apache-2.0

/// How far one direction of a merge has come.
public struct MergeProgress: Sendable, Equatable {
  /// The place of the sender in the list that is merged.
  public let from: Int
  /// The place of the receiver.
  public let into: Int
  /// Entries that were read from the sender in this direction.
  public let received: Int
  /// How many of the transactions that it takes are done: from 0 to 1.
  public let fraction: Double
}

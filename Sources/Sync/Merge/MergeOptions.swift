// SPDX-License-Identifier: Apache-2.0

/// How devices are to be merged.
public struct MergeOptions: Sendable {
  /// Exactly these stores; nil for all that are synced: `cloud` and `cloud:<name>`.
  public var stores: [String]?
  /// How far a timestamp may be ahead of the reader's clock; entries with later ones are not read
  /// yet.
  public var maximumClockSkew: Duration
  /// Only into the last device; the others keep their values.
  public var isOneWay: Bool
  /// Changes that the report lists at most; all are made, counted and announced.
  public var changeLimit: Int
  /// Entries that one transaction takes at most.
  package var chunkSize = 50_000
  /// Gets how far the merge has come, after each transaction, on the thread that merges. It must
  /// not wait for another merge of this process, which waits for this one.
  public var onProgress: (@Sendable (MergeProgress) -> Void)?
  /// Whether a one-way merge marks sources that can be written.
  package var marksSources = true
  /// `maximumClockSkew` in milliseconds.
  var clockSkew: Int64 { maximumClockSkew.milliseconds }

  /// All synced stores in both directions, unless told otherwise.
  public init(
    stores: [String]? = nil, maximumClockSkew: Duration = .seconds(5 * 60),
    isOneWay: Bool = false, changeLimit: Int = 1000
  ) {
    self.stores = stores
    self.maximumClockSkew = maximumClockSkew
    self.isOneWay = isOneWay
    self.changeLimit = changeLimit
  }

  package init(isOneWay: Bool = false, changeLimit: Int = 1000, chunkSize: Int) {
    self.init(isOneWay: isOneWay, changeLimit: changeLimit)
    self.chunkSize = chunkSize
  }
}

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

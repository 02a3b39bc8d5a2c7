// SPDX-License-Identifier: Apache-2.0

/// How devices are to be merged.
public struct MergeOptions: Sendable {
  /// Exactly these stores; nil for all that are synced: `cloud` and `cloud:<name>`.
  public var stores: [String]?
  /// How far a timestamp may be ahead of the receiver's clock before its entry is held.
  public var maximumClockSkew: Duration
  /// Only into the last device; the others are only read.
  public var isOneWay: Bool
  /// Changes that the report lists at most; all are made, counted and announced.
  public var changeLimit: Int
  /// Entries that one transaction takes at most.
  public var chunkSize: Int
  /// Whether to look for damage in both files before anything is written, even when they have met
  /// before. Every page is read, as a first exchange always does; of a file that was checked within
  /// a day, and that only Keepsake has written since, the rows that the merge reads or replaces.
  public var checksIntegrity: Bool
  /// Gets how far the merge has come, after each transaction, on the thread that merges. It must
  /// not wait for another merge of this process, which waits for this one.
  public var onProgress: (@Sendable (MergeProgress) -> Void)?
  /// Whether the first of two devices reads before it is read, as the first of more does. The one
  /// that reads first logs the conflicts.
  package var firstReadsFirst = false
  /// `maximumClockSkew` in milliseconds.
  var clockSkew: Int64 { maximumClockSkew.milliseconds }

  /// All synced stores in both directions, unless told otherwise.
  public init(
    stores: [String]? = nil, maximumClockSkew: Duration = .seconds(5 * 60),
    isOneWay: Bool = false, changeLimit: Int = 1000, chunkSize: Int = 50_000,
    checksIntegrity: Bool = false
  ) {
    self.stores = stores
    self.maximumClockSkew = maximumClockSkew
    self.isOneWay = isOneWay
    self.changeLimit = changeLimit
    self.chunkSize = chunkSize
    self.checksIntegrity = checksIntegrity
  }
}

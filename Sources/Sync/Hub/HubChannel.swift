// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeValues

/// The way to one account of a hub, for one device. `HubProtocol.md` describes what it sends.
package protocol HubChannel: AnyObject {
  /// The ID of the account.
  var account: Int64 { get }
  /// The hub in reports and errors: its address.
  var name: String { get }
  /// Rows that were refused for their size, and are not offered now.
  var refused: RefusedRows { get }

  /// Reads a page of rows.
  func rows(_ request: HubPageRequest) throws(KeepsakeError) -> HubPageAnswer

  /// The row as the hub stores it.
  ///
  /// - Parameter limit: the longest row that the hub accepts.
  /// - Returns: nil for a longer one, or one that cannot be written.
  func encode(_ entry: Entry, limit: Int) -> [UInt8]?

  /// Pushes a page of rows.
  func push(_ upload: HubUpload) throws(KeepsakeError) -> HubUploadResult

  /// Lets a moment pass, by chance, so that devices that write one key do not refuse each other.
  func pause(after attempts: Int)

  /// Drops deletions.
  ///
  /// - Parameter newest: the newest mark that the device has read.
  func forget(_ deletions: [Address], newest: String) throws(KeepsakeError)
}

/// A request for a page of a hub's rows.
package struct HubPageRequest: Equatable, Sendable {
  /// Nil for an export.
  package var replica: ReplicaID?
  /// The mark up to which the device has read the hub.
  package var cursor: String
  /// Of later pages: the number of the last row that was read.
  package var after: Int64?
  /// The newest mark that the device knows of; nil if there is none.
  package var newest: String?
  /// The rows of a page at most.
  package var rows: Int
  /// Whether the vectors of pushes before `cursor` are wanted, too.
  package var allVectors = false
  /// Whether the answer may leave out everything if `cursor` is the newest mark.
  package var isConditional = false

  package init(replica: ReplicaID?, cursor: String, rows: Int) {
    (self.replica, self.cursor, self.rows) = (replica, cursor, rows)
  }
}

/// A page of a hub's rows, and what the hub was when it was read.
package struct HubPageAnswer: Sendable {
  /// The newest mark.
  package var newest: String
  /// The hub's clock, in milliseconds since 1970.
  package var clock: Int64
  package var rows: [Entry] = []
  package var isLast = true
  /// False if the device has to read from the beginning.
  package var knowsCursor = true
  /// The longest row that the hub accepts, if it has said so.
  package var rowLimit = Int.max
  /// The mark that the device had at its last push.
  package var deviceMark: Mark?
  /// The united vectors of pushes that no later push had read: since the cursor, or of all.
  package var vectors = VersionVectors()
  /// How many rows this version cannot read, and their keys on the hub.
  package var unreadable = 0
  package var unreadableKeys: Set<ByteText> = []
  /// The number of the last row, whether it can be read or not.
  package var lastNumber: Int64?

  package init(newest: String, clock: Int64) { (self.newest, self.clock) = (newest, clock) }
}

/// A page of rows for a hub.
package struct HubUpload: Sendable {
  package struct Row: Sendable {
    package var entry: Entry
    package var sequenceNumber: Int64
    package var body: [UInt8]
  }

  /// What the device asks for if it is refused; also who it is, and the newest mark it knows of.
  package var request: HubPageRequest
  /// The mark up to which the device has read the hub.
  package var base: String
  package var rows: [Row]
  /// The device's mark and vectors: they come with the last page.
  package var last: (mark: Mark, vectors: VersionVectors)?
}

/// The result of an upload.
package enum HubUploadResult: Sendable {
  /// `isNext` says whether no other device has pushed since the upload's base.
  case taken(newest: String, isNext: Bool)
  /// Others have written one of the keys since. The hub may send what the device asks for.
  case changed(HubPageAnswer?)
  /// The hub does not accept one row, by its place in the upload.
  case tooLarge(row: Int)
  /// The hub, or something in between, accepts no upload of this size.
  case pageTooLarge(KeepsakeError)
}

extension VersionVectors {
  /// Covers also what others cover.
  package mutating func unite(_ other: VersionVectors) {
    for (store, vector) in other.times {
      for (id, time) in vector { raise(id, in: store, to: time) }
    }
  }
}

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
  /// - Returns: nil for a longer one.
  func encode(_ entry: Entry, limit: Int) throws(KeepsakeError) -> [UInt8]?

  /// Pushes a page of rows.
  func push(_ upload: HubUpload) throws(KeepsakeError) -> HubUploadResult

  /// Drops deletions.
  ///
  /// - Parameter newest: the newest mark that the device has read.
  func forget(_ deletions: [Address], newest: String) throws(KeepsakeError)

  /// Waits for a random part of a duration.
  func pause(_ longest: Duration)
}

extension Address {
  /// The key of a row on a hub. No two addresses have the same one.
  package var hubKey: String {
    let store = store.string.replacing("%", with: "%25").replacing("/", with: "%2F")
    return "\(store)/\(key.string)"
  }
}

/// A request for a page of a hub's rows.
package struct HubPageRequest: Equatable, Sendable {
  /// Nil for an export.
  package var replica: ReplicaID?
  /// The mark up to which the device has read the hub.
  package var cursor: String
  /// Of later pages: the number of the last row that was read.
  package var after: Int64?
  /// Of later pages, and of the first request of a later attempt: the newest mark of the answer
  /// before.
  package var newest: String?
  /// The rows of a page at most.
  package var rows: Int
  /// Whether the answer may leave out everything if `cursor` is the newest mark.
  package var isConditional = false

  package init(replica: ReplicaID?, cursor: String, rows: Int) {
    (self.replica, self.cursor, self.rows) = (replica, cursor, rows)
  }
}

/// A page of a hub's rows, and what the hub was when it was read.
package struct HubPageAnswer: Sendable {
  package struct Row: Sendable {
    package var entry: Entry
    package var sequenceNumber: Int64

    package init(_ entry: Entry, sequenceNumber: Int64) {
      (self.entry, self.sequenceNumber) = (entry, sequenceNumber)
    }
  }

  /// The newest mark.
  package var newest: String
  /// The hub's clock, in milliseconds since 1970.
  package var clock: Int64
  package var rows: [Row] = []
  package var isLast = true
  /// False if the device has to read from the beginning.
  package var knowsCursor = true
  /// The longest row that the hub accepts, if it has said so.
  package var rowLimit = Int.max
  /// The mark that the device had at its last push.
  package var deviceMark: Mark?
  /// Nil if there are none, or none that are new to the device.
  package var vectors: VersionVectors?
  /// Rows that this version cannot read.
  package var unreadable = 0
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

  package var replica: ReplicaID
  /// The newest mark that the device has read.
  package var base: String
  package var rows: [Row]
  /// The device's mark and vectors: they come with the last page.
  package var last: (mark: Mark, vectors: VersionVectors)?
  /// Whether the hub keeps the account for this device, for a while, if it refuses the upload.
  package var wantsTurn = false
  /// What the device asks next if others have pushed.
  package var next: HubPageRequest
}

/// What became of an upload.
package enum HubUploadResult: Sendable {
  case taken(newest: String)
  /// Others have pushed. The answer is that of the upload's `next`, if the hub has sent it.
  case changed(HubPageAnswer?)
  /// The hub does not accept one row, by its place in the upload.
  case tooLarge(row: Int)
  /// The hub, or something in between, accepts no upload of this size.
  case pageTooLarge(KeepsakeError)
}

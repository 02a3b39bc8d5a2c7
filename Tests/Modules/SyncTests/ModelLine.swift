// SPDX-License-Identifier: Apache-2.0

/// One line of the model's histories: an operation, and the files as they are after it. The format
/// is described in `Tests/Model/README.md`.
struct ModelLine: Decodable {
  let history: Int
  let step: Int
  let operation: ModelOperation
  let files: [String: ModelFile]
  let hubs: [String: ModelHub]
  let events: [String: [ModelEvent]]
}

struct ModelOperation: Decodable {
  enum Kind: String, Decodable {
    case create, write, resolve, merge, oneWay, copy, backup, restore, newID, clock, repair, compact
    case remove, hub, createHub, backupHub, restoreHub
  }

  /// What another process does at a boundary of this operation.
  struct Interruption: Decodable {
    let step: Int
    let name: String
    let operation: ModelOperation
  }

  /// The boundary at which the process ends.
  struct Crash: Decodable {
    let step: Int
    let name: String
  }

  let `do`: Kind
  let file: String?
  let files: [String]?
  let source: String?
  let target: String?
  let stores: [String]?
  let store: String?
  let key: String?
  let value: String?
  let now: Int64?
  let `as`: String?
  let from: String?
  let isWritable: Bool?
  let before: Int64?
  let replicaIDs: [Int64]?
  let markBits: [Int64]?
  let between: [Interruption]?
  let crash: Crash?
  let hub: String?
  let hubs: [String]?
  let id: Int64?
  /// Of the length of values.
  let limit: Int?
  let hubClock: Int64?
  let isDone: Bool?
  let isRefused: Bool?
}

struct ModelEvent: Decodable, Equatable {
  let store: String
  let key: String
  let value: String?
}

struct ModelMark: Decodable, Equatable {
  let sequenceNumber: Int64
  let time: Int64
  let bits: Int64
}

struct ModelRow: Decodable, Equatable {
  let store: String
  let key: String
  let value: String?
  let time: Int64
  let replicaID: Int64
  let sequenceNumber: Int64
}

struct ModelCursor: Decodable, Equatable {
  let peer: Int64
  let store: String
  let read: ModelMark
}

struct ModelConflict: Decodable {
  let lost: ModelRow
  let won: ModelRow
  let isResolved: Bool
}

struct ModelFile: Decodable {
  let replicaID: Int64
  let clock: Int64
  let sequenceNumber: Int64
  let trimmed: Int64
  let entries: [ModelRow]
  let vectors: [String: [String: Int64]]
  let marks: [ModelMark]
  let forgotten: [String: Int64]
  let cursors: [ModelCursor]
  let ownMarks: [String: ModelMark]
  let hubs: [String: ModelHubCursor]
  let conflicts: [ModelConflict]
}

/// What a file knows of a hub.
struct ModelHubCursor: Decodable {
  let read: ModelMark
  let newest: ModelMark
  let sent: ModelMark
  let held: [Int64]
}

struct ModelHub: Decodable {
  let entries: [ModelRow]
  let marks: [ModelMark]
  let vectors: [String: [String: Int64]]
  let devices: [String: ModelMark]
}

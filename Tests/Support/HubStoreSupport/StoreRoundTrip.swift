// SPDX-License-Identifier: Apache-2.0

package import KeepsakeHubServer

/// Writes each member of what a hub stores, and reads it.
package enum StoreRoundTrip {
  package struct Difference: Error {
    package let text: String
  }

  private static let id: Int64 = 1 << 62 - 1
  private static let key: [UInt8] = [0, 1, 0xC3, 0xA9, 0x22]

  private static var account: HubAccount {
    var account = HubAccount(id: id)
    account.newest = HubMark(number: 2, bits: 1 << 62 - 1, time: 4)
    (account.forgotten, account.rows, account.bytes) = (7, 9, 10)
    return account
  }

  private static let replica = HubReplica(id: "r\0é", number: 2, mark: [1, 0])

  private static var device: HubDevice {
    var device = HubDevice(number: 3, name: "n\0é", tokenHash: [7, 0], created: 1)
    device.lastUse = 2
    return device
  }

  private static let vectors = HubVectors(number: 2, body: [1, 0])

  private static let row = HubRow(key: key, body: [0, 0xFF], isDeleted: true, number: 1 << 53)

  package static func check(_ store: any HubStore) async throws {
    try await store.run(
      HubWork(HubQuery(id, isWriting: true)) { _ in
        var change = HubChange()
        (change.account, change.addsAccount) = (account, true)
        (change.rows, change.mark) = ([row], account.newest)
        change.vectors = HubChange.NewVectors(vectors, read: 0, bytes: 0)
        (change.replica, change.device) = (replica, device)
        change.invitation = HubInvitation(codeHash: [9, 0], ends: 5)
        return ((), change)
      })
    try await checkAgain(store)
  }

  package static func checkAgain(_ store: any HubStore) async throws {
    var query = HubQuery(id, isWriting: false)
    (query.token, query.replica) = ([7, 0], replica.id)
    (query.readsDevices, query.keys) = (true, [key, [1]])
    query.marks = [account.newest, HubMark(number: 2, bits: 9), .start]
    query.page = HubPage(after: 0, rows: 10, bytes: 10)
    let state = try await store.run(HubWork(query) { ($0, nil) })
    try equal(state.account, account)
    try equal(state.replica, replica)
    try equal(state.device, device)
    try equal(state.devices, [device])
    try equal(state.rows, [row])
    try equal(state.vectors, [vectors])
    try equal(state.hasMarks, [true, false, true])
    try equal(state.invitation, HubInvitation(codeHash: [9, 0], ends: 5))
    try equal(
      state.outlines, [HubRowOutline(key: key, number: 1 << 53, size: 7, isDeleted: true)])
  }

  /// Of too many vectors the oldest go, and those that a push replaces.
  package static func checkVectors(_ store: any HubStore) async throws {
    try await store.addAccount(1)
    func put(_ number: Int64, read: Int64 = 0, bytes: Int64 = 1_000) async throws -> [Int64] {
      let new = HubVectors(number: number, body: [0x30, 0x30])
      try await store.run(
        HubWork(HubQuery(1, isWriting: true)) { _ in
          var change = HubChange()
          change.vectors = HubChange.NewVectors(new, read: read, bytes: bytes)
          return ((), change)
        })
      var query = HubQuery(1, isWriting: false)
      query.page = HubPage(after: 0, rows: 1, bytes: 1)
      query.page?.cursor = 2
      return try await store.run(HubWork(query) { ($0.vectors.map(\.number), nil) })
    }
    for number: Int64 in 1...101 { _ = try await put(number) }
    try equal(try await put(102), Array(3...102))
    try equal(try await put(103, read: 100), [101, 102, 103])
    try equal(try await put(104, bytes: 4), [102, 103, 104])
    try equal(try await put(105, bytes: 3), [104, 105])
  }

  private static func equal<Value: Equatable>(_ found: Value, _ expected: Value) throws {
    guard found != expected else { return }
    throw Difference(text: "\(found), and not \(expected)")
  }
}

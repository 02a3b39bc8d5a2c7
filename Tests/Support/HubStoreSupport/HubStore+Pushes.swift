// SPDX-License-Identifier: Apache-2.0

package import KeepsakeHubServer

extension HubStore {
  /// Makes an account, whose device has the token `[1]`.
  @discardableResult
  package func addAccount(_ id: Int64) async throws -> Int64 {
    _ = try await run(AccountRules(HubLimits(), at: 0).create(id, name: "device", token: [1]))
    return id
  }

  /// Pushes rows upon whatever is there.
  ///
  /// - Returns: the account's number afterwards.
  @discardableResult
  package func put(_ keys: String..., in account: Int64) async throws -> Int64 {
    try await run(HubWork.put(keys, in: account))
  }

  /// The keys of an account, in the order of their numbers.
  package func keys(of account: Int64) async throws -> [String] {
    var query = HubQuery(account, isWriting: false)
    query.page = HubPage(after: 0, rows: 1_000_000, bytes: .max)
    return try await run(
      HubWork(query) { state in (state.rows.map { String(decoding: $0.key, as: UTF8.self) }, nil) })
  }
}

extension HubRefusal {
  /// Lets a `catch` clause name a refusal.
  package static func ~= (refusal: HubRefusal, error: any Error) -> Bool {
    error as? HubRefusal == refusal
  }
}

extension HubWork where Result == Int64 {
  /// Pushes rows upon whatever is there, and returns the account's number.
  package static func put(
    _ keys: [String], in account: Int64, _ check: @escaping @Sendable () throws -> Void = {}
  ) -> HubWork {
    HubWork(HubQuery(account, isWriting: true)) { state in
      guard var account = state.account else { throw HubRefusal.token }
      var (change, number) = (HubChange(), account.newest.number)
      for key in keys {
        number += 1
        change.rows.append(
          HubRow(key: Array(key.utf8), body: Array("\"value of \(key)\"".utf8), number: number))
      }
      account.newest = HubMark(number: number, bits: HubMark.randomBits())
      (change.mark, change.account) = (account.newest, account)
      try check()
      return (number, change)
    }
  }
}

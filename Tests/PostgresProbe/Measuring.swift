// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer
  import KeepsakePostgres
  import KeepsakeSync
  import KeepsakeValues

  /// Prints what pushes and readings cost.
  func measure(_ url: String) async throws {
    let database = try PostgresDatabase(url: url)
    let clock = ContinuousClock()
    func seconds(_ body: () async throws -> Void) async throws -> Double {
      try await clock.measure(body) / .seconds(1)
    }
    var accounts: [Int64] = []
    for _ in 0..<1_000 { accounts.append(try await database.addAccount()) }
    let all = accounts
    let pushes = 10_000
    let time = try await seconds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for lane in 0..<32 {
          group.addTask {
            for number in stride(from: lane, to: pushes, by: 32) {
              // Old keys as well as new ones.
              let name = "\(number / 1_000 % 3)"
              _ = try await database.push(10, named: name, in: all[number * 7 % 1_000])
            }
          }
        }
        try await group.waitForAll()
      }
    }
    print("pushes of 10 rows, 1,000 accounts: \(Int(Double(pushes) / time))/s")
    let account = try await database.addAccount()
    let up = try await seconds {
      for page in 0..<100 {
        _ = try await database.push(1_000, named: "page \(page)", in: account)
      }
    }
    var (count, cursor) = (0, Int64(0))
    let down = try await seconds {
      while true {
        let rows = try await database.read(account, after: cursor)
        guard let last = rows.last else { break }
        (count, cursor) = (count + rows.count, last.seq)
      }
    }
    print("100,000 rows: in \(up) s, out \(down) s (\(count))")
    let idle = try await seconds {
      for _ in 0..<1_000 {
        _ = try await database.onAccount(account) { tables in
          try HubRules.answer(
            HubRequest(device: ReplicaID(rawValue: 1), stores: [ByteText("cloud")]), tables,
            at: 1_000_000)
        }
      }
    }
    print("nothing new, 100,000 rows: \(idle) ms")
    database.close()
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import HubStoreSupport
  import KeepsakeHubServer
  import KeepsakePostgres
  import Synchronization
  import TestSupport
  import Testing

  @Suite(.enabled(if: Cluster.isPossible, Comment(rawValue: Cluster.need)))
  struct PostgresStoreTests {
    private let own: TestDatabase

    init() throws { own = try TestDatabase() }

    @Test(arguments: [(marks: 1_000, pages: 3), (marks: 3, pages: 2)])
    func aDatabaseAnswersAsTheModel(marks: Int, pages: Int) async throws {
      let database = try PostgresDatabase(url: own.url, connections: 2)
      let count = try await ModelReplay.play(
        on: database, seed: 2_000, histories: Seeds.rounds(50, debug: 5), marks: marks,
        pages: pages)
      #expect(count > 50)
      database.close()
    }

    @Test func everyColumnIsStored() async throws {
      let database = try PostgresDatabase(url: own.url, connections: 1)
      try await StoreRoundTrip.check(database)
      database.close()
    }

    @Test func ofTooManyVectorsTheOldestGo() async throws {
      let database = try PostgresDatabase(url: own.url, connections: 1)
      try await StoreRoundTrip.checkVectors(database)
      database.close()
    }

    /// No statement of the rule runs: each push is one round trip.
    @Test func pushesOfOtherKeysAreTakenThoughOthersHavePushed() async throws {
      let database = try PostgresDatabase(url: own.url, connections: 1)
      try await database.addAccount(1)
      let keys = ["a", "b", "c"]
      for key in keys {
        let push = HubPush(
          base: .start, rows: [HubRow(key: Array(key.utf8), body: [0x30])], mark: nil, vectors: nil)
        var work = LogRules(HubLimits(), at: 0).push(
          push, by: HubSender(account: 1, tokenHash: [1], replica: key),
          bits: HubMark.randomBits())
        work.rule = { _ in (nil, nil) }
        let pushed = try await database.run(work)
        #expect(pushed?.isNext == (key == "a"), "\(key)")
      }
      #expect(try await database.keys(of: 1) == keys)
      database.close()
    }

    @Test func aDeletedAccountLeavesNothing() async throws {
      let database = try PostgresDatabase(url: own.url, connections: 1)
      try await database.addAccount(1)
      try await database.put("a", in: 1)
      try await database.run(AccountRules(HubLimits(), at: 0).delete(1, token: [1]))
      await #expect(throws: HubRefusal.token) { try await database.put("b", in: 1) }
      for table in ["account", "row", "mark", "device"] {
        #expect(try own.shell("SELECT count(*) FROM keepsake_\(table)") == "0\n", "\(table)")
      }
      database.close()
    }

    @Test func pushesOfManyAccountsAtOnceAllSucceedAndEachAccountCountsItsOwn() async throws {
      let stores = try (0..<2).map { _ in try PostgresDatabase(url: own.url, connections: 2) }
      for account in 1...20 { try await stores[0].addAccount(Int64(account)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for account in 1...20 {
          for round in 0..<10 {
            let store = stores[round % 2]
            group.addTask { try await store.put("\(round)", "x", in: Int64(account)) }
          }
        }
        try await group.waitForAll()
      }
      for account in 1...20 {
        #expect(try await stores[0].keys(of: Int64(account)).count == 11)
      }
      let ends = "SELECT min(mark_number), max(mark_number) FROM keepsake_account"
      #expect(try own.shell(ends) == "20|20\n")
      for store in stores { store.close() }
    }

    @Test func newMarksAreAnnouncedInEveryProcess() async throws {
      let writer = try PostgresDatabase(url: own.url, connections: 1)
      let reader = try PostgresDatabase(url: own.url, connections: 1)
      try await writer.addAccount(1)
      let news = AsyncStream<Int64>.makeStream()
      reader.observe { _, newest in news.continuation.yield(newest.number) }
      // The first ones may come before the reader listens.
      let writing = Task {
        while !Task.isCancelled { _ = try await writer.put("a", in: 1) }
      }
      for await number in news.stream where number > 0 { break }
      writing.cancel()
      _ = await writing.result
      writer.close()
      reader.close()
    }
  }
#endif

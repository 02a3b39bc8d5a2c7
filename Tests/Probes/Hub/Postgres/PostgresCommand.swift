// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import ArgumentParser
  import Foundation
  import Histories
  import HubCrowd
  import KeepsakeHubServer
  import KeepsakePostgres
  import KeepsakeTesting
  import KeepsakeValues

  struct PostgresCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "postgres", abstract: "Uses a hub's database in PostgreSQL.",
      subcommands: [
        PlayHistories.self, AddAccount.self, PushRows.self, ReadRows.self, Measure.self,
      ])

    struct PlayHistories: ParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "histories",
        abstract: "Plays random histories with two hubs over one database.",
        discussion: "The seeds are those of the tests, one after the other.")

      @Argument(help: "The address of the database.") var url: String
      @Argument(help: "The number of histories.") var count: Int

      func run() throws {
        var generator = SeededGenerator(seed: 20_261_120)
        for _ in 0..<count {
          let seed = generator.next()
          let history = History(seed: seed, storage: .memory, hasHub: true)
          do {
            try history.play { try TwinHub($0, PostgresKeeper(url)) }
          } catch {
            say("seed \(seed): \(error)")
            throw ExitCode.failure
          }
        }
        say("\(count) histories")
      }
    }

    struct AddAccount: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Creates an account, and prints its number.")

      @Argument(help: "The address of the database.") var url: String

      func run() async throws {
        say("\(try await PostgresDatabase(url: url).addAccount())")
      }
    }

    struct PushRows: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Pushes rows until it is killed, and prints each that was acknowledged.")

      @Argument(help: "The address of the database.") var url: String
      @Argument(help: "The number of the account.") var account: Int64

      func run() async throws {
        let database = try PostgresDatabase(url: url, connections: 2)
        var round = 0
        while true {
          round += 1
          do {
            let name = "\(getpid()) \(round)"
            let pushed = try await database.push(3, named: name, in: account)
            for key in pushed.keys { say(key) }
          } catch let error as HubDatabaseError {
            report(error)
          }
        }
      }
    }

    struct ReadRows: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Prints the key of each row once, in the order of sequence numbers.")

      @Argument(help: "The address of the database.") var url: String
      @Argument(help: "The number of the account.") var account: Int64
      @Argument(help: "Reads on until this file exists and no row is new. (default: no file)")
      var end: String?

      func run() async throws {
        let database = try PostgresDatabase(url: url, connections: 1)
        var cursor: Int64 = 0
        while true {
          let isLast = end.map { FileManager.default.fileExists(atPath: $0) } ?? true
          do {
            let rows = try await database.read(account, after: cursor)
            for row in rows { say(row.entry.address.key.string) }
            cursor = rows.last?.seq ?? cursor
            if rows.isEmpty, isLast { break }
          } catch let error as HubDatabaseError {
            report(error)
          }
        }
      }
    }

    struct Measure: ParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Measures a database without accounts, and leaves its own there.",
        discussion: "Prints the nanoseconds of one operation.")

      @Argument(help: "The address of the database.") var url: String
      @Argument(help: "The number of operations, or of rows.") var count: Int
      @Argument(help: "pushes, push, up, down or nothing.") var kind = "pushes"

      func run() throws {
        let database = try PostgresDatabase(url: url)
        say("\(try Measurements.measure(kind, of: AnsweringDatabase(database), count))")
        database.close()
      }
    }
  }

  private func report(_ error: HubDatabaseError) {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import Histories
  import HubCrowd
  import KeepsakeHubServer
  import KeepsakePostgres
  import KeepsakeTesting
  import KeepsakeValues

  // At once: the process may be killed.
  func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  let words = CommandLine.arguments.dropFirst()
  let (task, url) = (words.first ?? "", words.dropFirst().first ?? "")
  let number = words.dropFirst(2).first.flatMap { Int($0) } ?? 1

  switch task {
  case "histories":
    // From the seeds that the tests take, one after the other.
    var generator = SeededGenerator(seed: 20_261_120)
    for _ in 0..<number {
      let seed = generator.next()
      let history = History(seed: seed, storage: .memory, hasHub: true)
      do {
        try history.play { try TwinHub($0, PostgresKeeper(url)) }
      } catch {
        say("seed \(seed): \(error)")
        exit(1)
      }
    }
    say("\(number) histories")
  case "account":
    say("\(try await PostgresDatabase(url: url).addAccount())")
  case "push":
    // Prints each row that was acknowledged, until it is killed.
    let database = try PostgresDatabase(url: url, connections: 2)
    var round = 0
    while true {
      round += 1
      do {
        let name = "\(getpid()) \(round)"
        let pushed = try await database.push(3, named: name, in: Int64(number))
        for key in pushed.keys { say(key) }
      } catch let error as HubDatabaseError {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
      }
    }
  case "read":
    // Prints each row once, in the order of sequence numbers, until it is told to end.
    let database = try PostgresDatabase(url: url, connections: 1)
    let end = words.dropFirst(3).first
    var cursor: Int64 = 0
    while true {
      let isLast = end.map { FileManager.default.fileExists(atPath: $0) } ?? true
      do {
        let rows = try await database.read(Int64(number), after: cursor)
        for row in rows { say(row.entry.address.key.string) }
        cursor = rows.last?.seq ?? cursor
        if rows.isEmpty, isLast { break }
      } catch let error as HubDatabaseError {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
      }
    }
  case "measure":
    // Nanoseconds, of a database without accounts.
    let database = try PostgresDatabase(url: url)
    let kind = words.dropFirst(3).first ?? "pushes"
    say("\(try Measurements.measure(kind, of: AnsweringDatabase(database), number))")
    database.close()
  default:
    say("histories, account, push, read, or measure URL COUNT KIND")
    exit(64)
  }
#endif

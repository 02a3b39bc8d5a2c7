// SPDX-License-Identifier: Apache-2.0
//
// Measures a hub: a served one over HTTP, or a store without HTTP.

import ArgumentParser
import Foundation
import KeepsakeHubFile
import KeepsakeHubServer
import Synchronization

#if PostgreSQL
  import KeepsakePostgres
#endif

@main
struct KeepsakeHubProbe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keepsake-hub-probe", abstract: "Measures a hub.",
    subcommands: [HTTPCommand.self, StoreCommand.self])
}

/// What to measure.
enum Measurement: String, ExpressibleByArgument, CaseIterable {
  /// Pushes of some rows to one account for each client.
  case pushes
  /// Requests that find nothing new.
  case nothing
  /// One device that pushes all rows, in pages; then reads them.
  case bulk
  /// Sets of a device that another one observes.
  case heard
  /// Devices that listen for events, and do nothing else.
  case listeners
}

struct MeasurementOptions: ParsableArguments {
  @Argument var kind: Measurement
  @Option var clients = 64
  @Option var seconds = 5.0
  @Option(help: "Rows of a push; of bulk all rows; of nothing and heard how often.")
  var rows = 10
}

struct HTTPCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "http", abstract: "Measures a served hub on this machine.")

  @Argument var port: UInt16
  @Argument(help: "The file with the operator's secret.") var secret: String
  @Option(help: "The hub's process, for listeners.") var hub: Int32 = 0
  @OptionGroup var options: MeasurementOptions

  func run() throws {
    let secret = try String(contentsOfFile: secret, encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    switch options.kind {
    case .pushes: try pushes(secret)
    case .nothing: try nothing(secret)
    case .bulk: try bulk(secret)
    case .heard:
      let delays = try SessionPair(port, secret).delays(max(2, options.rows))
      let late = delays[delays.count * 99 / 100]
      print("\(Int(delays[delays.count / 2])) ns, one in a hundred \(Int(late)) ns")
    case .listeners:
      try measureListeners(
        options.clients, port, secret, hub: hub, seconds: options.seconds)
    }
  }

  private func pushes(_ secret: String) throws {
    let count = Atomic(0)
    let devices = try (0..<options.clients).map { _ in try HTTPDevice(port, secret) }
    let end = Date(timeIntervalSinceNow: options.seconds)
    let ends = devices.map { device in
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        var round = 0
        while Date() < end {
          round += 1
          let keys = (0..<options.rows).map { "cloud/key \((round * 7 + $0) % 1000)" }
          do { try device.push(keys, "\"value \(round)\"") } catch { fatal(error) }
          count.add(1, ordering: .relaxed)
        }
        done.signal()
      }
      return done
    }
    for done in ends { done.wait() }
    let pushed = count.load(ordering: .relaxed)
    print("\(Int(Double(pushed) / options.seconds)) pushes of \(options.rows) rows a second")
  }

  private func nothing(_ secret: String) throws {
    let device = try HTTPDevice(port, secret)
    try device.push(["cloud/key"], "1")
    let count = 100 * options.rows
    let time = try seconds { for _ in 0..<count { try device.readNothing() } }
    print("\(Int(time / Double(count) * 1e6)) µs for nothing new")
    let pushing = try seconds {
      for number in 0..<count { try device.push(["cloud/key"], "\(number)") }
    }
    print("\(Int(pushing / Double(count) * 1e6)) µs for a push of one row")
  }

  private func bulk(_ secret: String) throws {
    let device = try HTTPDevice(port, secret)
    let value = #"{"type":"string","value":"\#(String(repeating: "v", count: 80))"}"#
    let up = try seconds {
      for start in stride(from: 0, to: options.rows, by: 1_000) {
        let keys = (start..<min(start + 1_000, options.rows)).map { "cloud/key \(1_000_000 + $0)" }
        try device.push(keys, value)
      }
    }
    let down = try seconds { try device.readAll() }
    print("\(options.rows) rows up in \(up) s, down in \(down) s")
  }
}

struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Measures pushes to a store without HTTP.")

  @Argument(help: "A file, or postgresql://…") var place: String
  @OptionGroup var options: MeasurementOptions

  private func open() throws -> any HubStore {
    guard place.contains("://") else { return try HubFile(path: place) }
    #if PostgreSQL
      return try PostgresDatabase(url: place)
    #else
      throw ValidationError("\(place) needs a build with the trait PostgreSQL")
    #endif
  }

  func run() async throws {
    let store = try open()
    let (end, rows) = (Date(timeIntervalSinceNow: options.seconds), options.rows)
    let first = Int64.random(in: 1..<1 << 60)
    let total = try await withThrowingTaskGroup(of: Int.self) { group in
      for client in 0..<options.clients {
        group.addTask {
          try await Self.push(to: store, account: first + Int64(client), rows: rows, until: end)
        }
      }
      return try await group.reduce(0, +)
    }
    print("\(Int(Double(total) / options.seconds)) pushes of \(rows) rows a second")
    store.close()
  }

  private static func push(
    to store: any HubStore, account: Int64, rows: Int, until end: Date
  ) async throws -> Int {
    let limits = HubLimits()
    let token: [UInt8] = [1]
    _ = try await store.run(AccountRules(limits, at: 0).create(account, name: "a", token: token))
    let sender = HubSender(account: account, tokenHash: token, replica: "r")
    var (newest, count) = (HubMark.start, 0)
    while Date() < end {
      count += 1
      let pushed = (0..<rows).map { number in
        HubRow(
          key: Array("cloud/key \((count * 7 + number) % 1000)".utf8),
          body: Array("\"value \(count)\"".utf8))
      }
      let push = HubPush(base: newest, rows: pushed, mark: [1], vectors: [0x30])
      let taken = try await store.run(
        LogRules(limits, at: 1).push(push, by: sender, bits: HubMark.randomBits()))
      guard let taken else { throw Failure(text: "a push was refused") }
      newest = taken.newest
    }
    return count
  }
}

struct Failure: Error {
  let text: String
}

func seconds(_ body: () throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  try body()
  return (ContinuousClock.now - start) / .seconds(1)
}

/// Ends a measurement that has failed on a thread.
func fatal(_ error: any Error) -> Never {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}

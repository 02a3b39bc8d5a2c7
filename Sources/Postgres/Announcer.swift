// SPDX-License-Identifier: Apache-2.0
//
// Tells which accounts have changed: observers of this process at once, other processes by NOTIFY.
//
// The notification follows the commit, on a connection of its own. In the commit it would take a
// lock of the whole database until the disk has answered, so that no two pushes of any accounts
// could share one wait for it. What is lost between the two, or while the connection is, is found
// by looking at the accounts that this process knows, at each connection and from time to time.

#if PostgreSQL
  import Foundation
  import KeepsakeValues

  // Sendable: everything that changes is used with the lock held, and the connection by its thread
  // alone.
  final class Announcer: @unchecked Sendable {
    private let address: PostgresAddress
    private let queue: JobQueue
    private let interval: TimeInterval
    private let lock = NSLock()
    private var observers: [@Sendable (Int64, Int64) -> Void] = []
    /// The last sequence number of each account that this process has worked on.
    private var known: [Int64: Int64] = [:]
    private var news: [Int64: Int64] = [:]
    /// Wakes the thread: its reading and its writing end.
    private let pipe = Pipe()
    private let number = UInt64.random(in: .min ... .max)
    private static let channel = "keepsake_hub"

    init(_ address: PostgresAddress, _ queue: JobQueue, _ interval: TimeInterval) {
      (self.address, self.queue, self.interval) = (address, queue, interval)
      let ends = [pipe.fileHandleForReading, pipe.fileHandleForWriting].map(\.fileDescriptor)
      for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    private static let listen = Statement("listen", "LISTEN \(channel)")
    private static let notify = Statement(
      "notify", "SELECT pg_notify('\(channel)', t) FROM unnest($1::bytea[]) AS b (b), "
        + "LATERAL convert_from(b, 'UTF8') AS t")

    func observe(_ body: @escaping @Sendable (Int64, Int64) -> Void) {
      lock.withLock { observers.append(body) }
    }

    /// An account that this process works on is looked at from then on.
    func know(_ account: Int64, _ seq: Int64) {
      lock.withLock { known[account] = max(known[account] ?? 0, seq) }
    }

    /// This process has changed an account.
    func tell(_ account: Int64, _ seq: Int64) {
      lock.withLock { news[account] = max(news[account] ?? 0, seq) }
      hear(account, seq)
      wake()
    }

    private func hear(_ account: Int64, _ seq: Int64) {
      let all = lock.withLock {
        known[account] = max(known[account] ?? 0, seq)
        return observers
      }
      for observer in all { observer(account, seq) }
    }

    func wake() {
      // A pipe that is full wakes it as well.
      var byte: UInt8 = 0
      _ = write(pipe.fileHandleForWriting.fileDescriptor, &byte, 1)
    }

    // MARK: - The thread

    func work() {
      var pause = 0.05
      while !queue.isEnding {
        do {
          let connection = try PostgresConnection(
            address, prepare: [Self.listen, Self.notify, AccountTable.last])
          _ = try connection.run(Self.listen)
          pause = 0.05
          try follow(connection)
        } catch {
          queue.pause(.random(in: pause / 2...pause))
          pause = min(pause * 2, 2)
        }
      }
      queue.endThread()
    }

    private func follow(_ connection: PostgresConnection) throws {
      var next = Date.distantPast
      while true {
        if next < Date() {
          try catchUp(connection)
          next = Date(timeIntervalSinceNow: interval)
        }
        try send(connection)
        for text in try connection.notifications() { hear(text) }
        // What was submitted before the end has told its news by now, or is found by others' look.
        guard !queue.isEnding else { return }
        wait(connection.socket, until: next)
      }
    }

    private func wait(_ socket: Int32, until end: Date) {
      let wakes = pipe.fileHandleForReading.fileDescriptor
      var places = [
        pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakes, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&places, 2, Int32(max(end.timeIntervalSinceNow, 0) * 1000) + 1)
      var bytes = [UInt8](repeating: 0, count: 256)
      while read(wakes, &bytes, bytes.count) > 0 {}
    }

    /// "process account seq account seq …", in notifications that are short enough.
    private func send(_ connection: PostgresConnection) throws {
      let all = lock.withLock {
        defer { news = [:] }
        return Array(news)
      }
      guard !all.isEmpty else { return }
      let texts = stride(from: 0, to: all.count, by: 150).map { start in
        ByteText(
          all[start..<min(start + 150, all.count)].reduce(into: "\(number)") {
            $0 += " \($1.key) \($1.value)"
          })
      }
      var parameters = Parameters()
      parameters.append(texts: texts)
      _ = try connection.run(Self.notify, parameters)
    }

    private func hear(_ text: String) {
      let words = text.split(separator: " ")
      guard let first = words.first, UInt64(first) != number else { return }
      let numbers = words.dropFirst().compactMap { Int64($0) }
      for place in stride(from: 0, to: numbers.count - 1, by: 2) {
        hear(numbers[place], numbers[place + 1])
      }
    }

    private func catchUp(_ connection: PostgresConnection) throws {
      let accounts = lock.withLock { known }
      let all = Array(accounts.keys)
      for start in stride(from: 0, to: all.count, by: 1000) {
        var parameters = Parameters()
        parameters.append(numbers: all[start..<min(start + 1000, all.count)])
        let result = try connection.run(AccountTable.last, parameters)
        for row in 0..<result.count {
          let (account, seq) = (result.number(row, 0), result.number(row, 1))
          if seq > accounts[account] ?? 0 { hear(account, seq) }
        }
      }
    }
  }
#endif

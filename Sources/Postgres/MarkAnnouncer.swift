// SPDX-License-Identifier: Apache-2.0
//
// Announces new marks: to observers of this process at once, to other processes by NOTIFY.
//
// The notification follows the commit, on a connection of its own. Within the commit it would lock
// the whole database until the disk has answered, so that no two commits could share one wait for
// it. A lost notification does little harm: streams read the newest mark at each beat.

#if PostgreSQL
  import Foundation
  import KeepsakeHubServer

  // Sendable: everything that changes is used with the lock held, and the connection by its thread
  // alone.
  final class MarkAnnouncer: @unchecked Sendable {
    private let address: PostgresAddress
    private let queue: JobQueue
    private let lock = NSLock()
    private var observers: [@Sendable (Int64, HubMark) -> Void] = []
    /// Marks that other processes have not been notified of.
    private var unsent: [Int64: HubMark] = [:]
    /// Wakes the thread.
    private let pipe = Pipe()
    private let number = UInt64.random(in: .min ... .max)
    private static let channel = "keepsake_hub"

    init(_ address: PostgresAddress, _ queue: JobQueue) {
      (self.address, self.queue) = (address, queue)
      let ends = [pipe.fileHandleForReading, pipe.fileHandleForWriting].map(\.fileDescriptor)
      for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    private static let listen = HubStatement("listen", "LISTEN \(channel)")
    private static let notify = HubStatement(
      "notify",
      "SELECT pg_notify('\(channel)', t) FROM unnest($1::bytea[]) AS b (b), "
        + "LATERAL convert_from(b, 'UTF8') AS t")

    func observe(_ body: @escaping @Sendable (Int64, HubMark) -> Void) {
      lock.withLock { observers.append(body) }
    }

    /// Announces a mark that this process has made.
    func announce(_ account: Int64, _ newest: HubMark) {
      lock.withLock {
        if newest.number >= unsent[account]?.number ?? 0 { unsent[account] = newest }
      }
      notifyObservers(account, newest)
      wake()
    }

    private func notifyObservers(_ account: Int64, _ newest: HubMark) {
      for observer in lock.withLock({ observers }) { observer(account, newest) }
    }

    func wake() {
      // A full pipe wakes the thread, too.
      var byte: UInt8 = 0
      _ = write(pipe.fileHandleForWriting.fileDescriptor, &byte, 1)
    }

    // MARK: - The thread

    func work() {
      var pause = 0.05
      while !queue.isEnding {
        do {
          let connection = try PostgresConnection(address, prepare: [Self.listen, Self.notify])
          _ = try connection.run(Self.listen)
          pause = 0.05
          try follow(connection)
        } catch {
          queue.pause(.random(in: pause / 2...pause))
          pause = min(pause * 2, 2)
        }
      }
    }

    private func follow(_ connection: PostgresConnection) throws {
      let generation = queue.generation
      while generation == queue.generation {
        try send(connection)
        for text in try connection.notifications() { receive(text) }
        // Work from before the end is announced by now, or other processes find it at a beat.
        guard !queue.isEnding else { return }
        wait(connection.socket)
      }
    }

    /// Waits for a second at most.
    private func wait(_ socket: Int32) {
      let wakes = pipe.fileHandleForReading.fileDescriptor
      var places = [
        pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakes, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&places, 2, 1_000)
      var bytes = [UInt8](repeating: 0, count: 256)
      while read(wakes, &bytes, bytes.count) > 0 {}
    }

    /// Sends "process account mark" for each account.
    private func send(_ connection: PostgresConnection) throws {
      let all = lock.withLock {
        defer { unsent = [:] }
        return unsent
      }
      guard !all.isEmpty else { return }
      let texts = all.map { Array("\(number) \($0) \($1.text)".utf8) }
      _ = try connection.run(Self.notify, .blobs(texts))
    }

    private func receive(_ text: String) {
      let words = text.split(separator: " ")
      guard words.count == 3, UInt64(words[0]) != number, let account = Int64(words[1]),
        let mark = HubMark(text: words[2])
      else { return }
      notifyObservers(account, mark)
    }
  }
#endif

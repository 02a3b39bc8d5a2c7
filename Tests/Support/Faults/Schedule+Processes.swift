// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Turns

/// What a new process does, and where it complains.
private final class Work {
  private let body: () throws -> Void
  private let output: Int32

  init(_ body: @escaping () throws -> Void, output: Int32) {
    (self.body, self.output) = (body, output)
  }

  func run() {
    do {
      try body()
      _exit(0)
    } catch {
      let text = Array("\(error)".utf8)
      _ = write(output, text, text.count)
      _exit(1)
    }
  }
}

/// What the threads of a process do, and what the first that fails complains of.
private final class Parts {
  private let body: (Int) throws -> Void
  private let failure = Mutex<(any Error)?>(nil)

  init(_ body: @escaping (Int) throws -> Void) { self.body = body }

  func run(_ number: Int) {
    do {
      try body(number)
    } catch {
      failure.withLock { $0 = $0 ?? error }
    }
  }

  func get() throws { if let failure = failure.withLock({ $0 }) { throw failure } }
}

extension Schedules {
  /// Runs the actors of a process, each on a thread of its own.
  static func onThreads(_ numbers: Range<Int>, _ body: (Int) throws -> Void) throws {
    try withoutActuallyEscaping(body) { body in
      let parts = Parts(body)
      let hasThreads = turns_on_threads(
        Int32(numbers.lowerBound), Int32(numbers.count),
        { Unmanaged<Parts>.fromOpaque($0!).takeUnretainedValue().run(Int($1)) },
        Unmanaged.passUnretained(parts).toOpaque())
      // Those that were made wait for ever: the process ends.
      guard hasThreads else { throw ScheduleFailure("no thread can be made") }
      try parts.get()
    }
  }

  struct Child {
    let id: Int32
    /// What it complains of; ends with it.
    let output: Int32
  }

  /// Makes a process that ends after `body`.
  static func process(_ body: () throws -> Void) throws -> Child {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw ScheduleFailure("no pipe can be made") }
    let id = turns_fork()
    guard id != 0 else {
      withoutActuallyEscaping(body) { body in
        let work = Unmanaged.passRetained(Work(body, output: ends[1]))
        turns_on_new_thread(
          { Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().run() }, work.toOpaque())
      }
      // The thread ends the process; unless there is none.
      _exit(2)
    }
    close(ends[1])
    guard id > 0 else { throw ScheduleFailure("no process can be made") }
    return Child(id: id, output: ends[0])
  }

  /// Returns when all have ended well.
  ///
  /// - Throws: `ScheduleFailure` as soon as one ends otherwise, or when all stand still; then all
  ///   are ended.
  static func wait(for children: [Child]) throws {
    var running = children
    defer {
      for child in running {
        kill(child.id, SIGKILL)
        waitpid(child.id, nil, 0)
        close(child.output)
      }
    }
    while !running.isEmpty {
      var ends = running.map { pollfd(fd: $0.output, events: Int16(POLLIN), revents: 0) }
      guard poll(&ends, nfds_t(ends.count), 30_000) > 0 else {
        throw ScheduleFailure("nothing goes on")
      }
      for index in ends.indices.reversed() where ends[index].revents != 0 {
        let child = running.remove(at: index)
        try end(child)
      }
    }
  }

  /// Of a process that ends, or complains and then ends.
  private static func end(_ child: Child) throws {
    defer { close(child.output) }
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4096)
    while case let count = read(child.output, &bytes, bytes.count), count > 0 {
      text += bytes[..<count]
    }
    var status: Int32 = 0
    waitpid(child.id, &status, 0)
    guard status != 0 else { return }
    let (signal, complaint) = (status & 0x7F, String(decoding: text, as: UTF8.self))
    throw ScheduleFailure(signal == 0 ? complaint : "a process ended by signal \(signal)")
  }
}

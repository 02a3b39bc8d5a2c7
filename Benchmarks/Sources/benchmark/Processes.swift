// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Synchronization

extension Measure {
  static let distribution = [
    Measure(suffix: ", p50", unit: .nanoseconds), Measure(suffix: ", p99", unit: .nanoseconds),
  ]
}

func processes(_ report: Report) {
  report.run(hearing())
  report.run(waiting(Measure.distribution + [Measure(suffix: ", longest", unit: .nanoseconds)]))
}

/// The median, the 99th percentile and the longest of one round.
private func distribution(_ times: [Double], longest: Bool) -> [Double] {
  let sorted = times.sorted()
  let parts = [0.5, 0.99].map { sorted[Int($0 * Double(sorted.count - 1) + 0.5)] }
  return parts + (longest ? [sorted[sorted.count - 1]] : [])
}

// MARK: - A set is heard

private let perRound = 200

private func hearing() -> Race {
  let race = Race(Measure.distribution, rounds: 7...15, seconds: 12)
  race.enter(
    "ours",
    {
      let settings = try BenchmarkSettings()
      return Listener([settings], to: try Command.start("tell", [settings.device.path]))
    }
  ) { try $0.round() }
  race.enter(FileListener.name, FileListener.init) { try $0.round() }
  race.leaveOut("UserDefaults", "a running process never hears of it")
  race.row(
    "a set is heard in another process", "ours", beside: [FileListener.name, "UserDefaults"])
  return race
}

/// Observes a key of each store, which another process sets to the time.
final class Listener: Sendable {
  private let stores: [UserDefaultsStore]
  private let other: Running
  private let delays = Mutex<[Double]>([])
  private let news = DispatchSemaphore(value: 0)
  private let tokens = Mutex<[ObservationToken]>([])

  init(_ stores: [UserDefaultsStore], keys: KeyFilter = "count", to other: Running) {
    (self.stores, self.other) = (stores, other)
    let all = stores.map { store in
      store.observe(keys) { [weak self] changes in
        let end = now()
        guard let self, let change = changes.last, change.origin == .otherProcess,
          case .integer(let sent)? = change.new
        else { return }
        delays.withLock { $0.append(Double(Int64(end) - sent)) }
        news.signal()
      }
    }
    tokens.withLock { $0 = all }
  }

  /// One set after the other, each once the one before was heard.
  func round() throws -> [Double] {
    delays.withLock { $0 = [] }
    for _ in 0..<perRound {
      try other.say("")
      guard news.wait(timeout: .now() + 10) == .success else { throw Failure("nothing was heard") }
    }
    return distribution(delays.withLock { $0 }, longest: false)
  }
}

/// What wakes a process at best.
final class FileListener {
  static let name = "inotify and a write of eight bytes"

  private let events: Int32
  private let file: Int32
  private let other: Running

  init() throws {
    let path = Files.new(".bytes")
    file = open(path, O_RDWR | O_CREAT, 0o600)
    events = inotify_init1(Int32(IN_CLOEXEC))
    guard file >= 0, events >= 0, inotify_add_watch(events, path, UInt32(IN_MODIFY)) >= 0 else {
      throw Failure("inotify does not work")
    }
    other = try Command.start("tell bytes", [path])
  }

  deinit {
    close(file)
    close(events)
  }

  func round() throws -> [Double] {
    let delays = try (0..<perRound).map { _ in
      try other.say("")
      var poll = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, 10_000) == 1 else { throw Failure("nothing was heard") }
      var (sent, buffer) = (UInt64(0), [UInt8](repeating: 0, count: 4096))
      _ = read(events, &buffer, buffer.count)
      let end = now()
      guard pread(file, &sent, 8, 0) == 8 else { throw Failure("nothing was written") }
      return Double(end - sent)
    }
    return distribution(delays, longest: false)
  }
}

// MARK: - A set waits for another process

private let writeWithoutPause = "SQLite, C API, in both"

private func waiting(_ measures: [Measure]) -> Race {
  let race = Race(measures, rounds: 5...15, seconds: 10)
  /// Times 4,000 sets beside a process that writes the same file without a pause.
  func round(_ role: String, _ path: String, _ set: (Int) throws -> Void) throws -> [Double] {
    let other = try Command.start(role, [path])
    defer { other.end() }
    other.wait()
    return distribution(
      try (0..<4_000).map { number in try nanoseconds { _ in try set(number) } }, longest: true)
  }
  race.enter("ours", { try BenchmarkSettings() }) { settings in
    try round("write", settings.device.path) { try settings.$count.write($0) }
  }
  race.enter(
    writeWithoutPause,
    {
      let path = try Fixture(keys: 1).copy()
      return (path, try RawSets(path))
    }
  ) { path, sets in
    try round("write by SQLite", path) { try sets.set("count", Fixture.value($0 % 2)) }
  }
  race.row(
    "set beside a process that writes", "ours", beside: [writeWithoutPause])
  return race
}

/// The other process, until it is ended.
enum ProcessRoles {
  /// A pause before each set, so that the listener is asleep.
  static func tell(_ path: String) throws {
    let settings = try BenchmarkSettings(path)
    while readLine() != nil {
      usleep(1_000)
      try settings.$count.write(Int(now()))
    }
  }

  static func tellBytes(_ path: String) throws {
    let file = open(path, O_WRONLY)
    while readLine() != nil {
      usleep(1_000)
      var time = now()
      guard pwrite(file, &time, 8, 0) == 8 else { throw Failure("cannot write \(path)") }
    }
  }

  static func write(_ path: String) throws {
    let settings = try BenchmarkSettings(path)
    try forever { try settings.$username.write(Fixture.value($0 % 2)) }
  }

  static func writeBySQLite(_ path: String) throws {
    let sets = try RawSets(path)
    try forever { try sets.set("username", Fixture.value($0 % 2)) }
  }

  private static func forever(_ set: (Int) throws -> Void) throws {
    for number in 0... {
      try set(number)
      if number == 100 { FileHandle.standardOutput.write(Data("on\n".utf8)) }
    }
  }
}

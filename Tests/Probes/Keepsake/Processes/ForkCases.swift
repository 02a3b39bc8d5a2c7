// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Faults
import Foundation
import Keepsake
import KeepsakeSync
import KeepsakeThreads
import Synchronization
import Turns

extension ForkCommand {
  /// The child uses everything, and ends its parent's observer.
  func use() throws {
    let (device, partner) = (try device("a"), try device("b"))
    let settings = try SharedSettings(on: device)
    let news = DispatchSemaphore(value: 0)
    let token = settings.observe("from outside") { _ in news.signal() }
    settings.count = 1
    // The value is in memory from here on.
    say("parent: \(settings.count)")
    try inChild {
      say("property: \(settings.count), \(settings.errors.last.map { "\($0)" } ?? "no failure")")
      settings.count = 3
      attempt("read") { _ = try settings.$count.read() }
      attempt("write") { try settings.$count.write(2) }
      attempt("transaction") { try settings.transaction {} }
      attempt("merge") { try device.merge(with: partner) }
      attempt("backup") { try device.backup(to: URL(fileURLWithPath: path("backup"))) }
      attempt("synchronize") { try device.synchronize() }
      _ = settings.observe("from outside") { _ in }
      token.cancel()
    }
    settings.name = "after"
    try device.checkIntegrity()
    say("parent: \(settings.count), \(settings.name), \(settings.errors)")
    try start("kvsync", "set", device.path, "from outside", "v")
    let isHeard = news.wait(timeout: .now() + 20) == .success
    say("observer: \(isHeard ? "heard" : "deaf")")
    withExtendedLifetime(token) {}
  }

  /// Children observe that were made while another thread of their parent began and ended to
  /// observe. If that thread held a lock at the fork, the lock stays held in the child.
  func observe() throws {
    let (device, memory) = (try device("a"), try Device.inMemory())
    let settings = try SharedSettings(on: device)
    let observers: [@Sendable () -> ObservationToken] = [
      { device.observe(.all, { _ in }, onFailure: { _ in }) },
      { memory.observe(.all, { _ in }, onFailure: { _ in }) },
      { settings.observe { _ in } },
    ]
    for observe in observers { self.observe(observe) }
    say("parent: over")
  }

  private func observe(_ observe: @escaping @Sendable () -> ObservationToken) {
    let isOver = OneWayFlag()
    let ended = DispatchSemaphore(value: 0)
    // This one stays, so that the others neither begin nor end the thread that listens.
    let token = observe()
    withExtendedLifetime(token) {
      Thread {
        while !isOver.isSet { observe().cancel() }
        ended.signal()
      }.start()
      inChildren(100) { _ in observe().cancel() }
      isOver.set()
      ended.wait()
    }
  }

  /// Children use stores of their own that were made while other threads of their parent read, and
  /// released what is read no more: in a child these operations never end. No thread uses SQLite at
  /// that time, because SQLite's own locks would stay taken in a child.
  func read() throws {
    let settings = try SharedSettings(on: device("a"))
    settings.count = 1
    let (isOver, ended) = (OneWayFlag(), DispatchSemaphore(value: 0))
    let letGo: @Sendable () -> Void = {
      keepsake_lock_retired()
      keepsake_unlock_retired()
    }
    let bodies: [@Sendable () -> Void] =
      [letGo] + Array(repeating: { _ = settings.count }, count: 3)
    for body in bodies {
      Thread.detachNewThread {
        while !isOver.isSet { body() }
        ended.signal()
      }
    }
    try inChildren(10) { number in
      let own = try SharedSettings(on: device("own \(number)"))
      for count in 1...100 {
        own.count = count
        try demand(own.count == count, "it reads \(own.count) after \(count)")
      }
    }
    isOver.set()
    for _ in bodies { ended.wait() }
    say("parent: over")
  }

  /// The child opens its parent's file anew, with and without its parent's device, and one of its
  /// own.
  func open() throws {
    var device: Device? = try device("a")
    let open = {
      for (name, access) in [("open", Device.Access.existing), ("open to read", .readOnly)] {
        attempt(name) { _ = try Device(path: path("a"), access: access) }
      }
    }
    try inChild {
      open()
      device = nil
      open()
      let own = try SharedSettings(on: self.device("own"))
      own.count = 7
      say("own file: \(own.count), \(own.errors)")
    }
    withExtendedLifetime(device) {}
  }

  /// The child releases a device whose folder goes with its last reference.
  func release() throws {
    var device: Device? = try Device.temporary()
    let path = device?.path ?? ""
    try inChild { device = nil }
    say("file: \(FileManager.default.fileExists(atPath: path) ? "there" : "gone")")
    withExtendedLifetime(device) {}
  }

  /// The child releases its parent's device when the parent has closed it, and another process has
  /// left commits in a new log: to close the connection would remove that log.
  func log() throws {
    var device: Device? = try device("a")
    if let device { try SharedSettings(on: device).write("v", for: "k") }
    let (go, log) = (Pipe(), path("a") + "-wal")
    let id = turns_fork()
    if id == 0 {
      try go.fileHandleForWriting.close()
      _ = go.fileHandleForReading.availableData
      device = nil
      Foundation.exit(0)
    }
    device = nil
    say("log: \(FileManager.default.fileExists(atPath: log) ? "there" : "gone")")
    try start(Program.name, "add", path("a"), "5", "--killed")
    say("log: \(FileManager.default.fileExists(atPath: log) ? "there" : "gone")")
    try go.fileHandleForWriting.close()
    wait(for: id)
    say("log: \(FileManager.default.fileExists(atPath: log) ? "there" : "gone")")
    say("sum: \(try SharedCounters(on: self.device("a")).sum)")
  }

  /// The child leaves the transaction open, and the parent commits it.
  func transaction() throws {
    let settings = try SharedSettings(on: device("a"))
    settings.count = 1
    var id: Int32 = -1
    // More than SQLite keeps in memory, so that the log has some of it, without a commit.
    let (count, text) = (50, String(repeating: "x", count: 100_000))
    do {
      try settings.transaction {
        for number in 0..<count { try settings.write(.string(text), for: "large \(number)") }
        id = turns_fork()
        if id != 0 { return wait(for: id) }
        attempt("write") { try settings.write(9, for: "large 0") }
      }
    } catch let error as KeepsakeError where id == 0 {
      say("its end: \(error.code)")
      Foundation.exit(0)
    }
    if id == 0 { Foundation.exit(1) }
    let whole = try (0..<count).count { try settings.read("large \($0)") == .string(text) }
    say("parent: \(whole)")
    try settings.device.checkIntegrity()
    try start("kvsync", "doctor", path("a"))
  }

  /// The child unwinds a merge, and leaves its parent's lease alone.
  func merge() throws {
    let (a, b) = (try device("a"), try device("b"))
    try SharedSettings(on: a).count = 1
    let fork = OneFork()
    var options = MergeOptions()
    options.onProgress = { [path = a.path] _ in
      guard let id = fork.make() else { return }
      guard id != 0 else {
        // The thread that merges is not there.
        let devices = Unmanaged.passRetained(DevicePair(a, b))
        return turns_on_new_thread(
          { Unmanaged<DevicePair>.fromOpaque($0!).takeRetainedValue().merge() }, devices.toOpaque())
      }
      wait(for: id)
      say("lease: \(FileManager.default.fileExists(atPath: path + ".lease") ? "there" : "gone")")
    }
    let result = Result { () throws(KeepsakeError) in try a.merge(with: b, options: options) }
    if fork.isChild {
      attempt("merge") { _ = try result.get() }
      Foundation.exit(0)
    }
    say("parent: \(try result.get().hasConverged ? "converged" : "not converged")")
  }

  /// The child ends by itself while its parent makes a backup.
  func end() throws {
    let device = try device("a", .daily)
    _ = try UserDefaultsStore(on: device, arguments: .none)
    let time = try ContinuousClock().measure { try inChild {} }
    say("at once: \(time < .seconds(5))")
  }
}

private final class OneWayFlag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}

private final class DevicePair {
  private let devices: (Device, Device)

  init(_ a: Device, _ b: Device) { devices = (a, b) }

  func merge() {
    attempt("merge by another thread") { try devices.0.merge(with: devices.1) }
  }
}

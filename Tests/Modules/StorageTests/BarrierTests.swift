// SPDX-License-Identifier: Apache-2.0

import CSQLite
import KeepsakeDevice
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct BarrierTests {
  private let device: Device
  private var path: String { device.path }

  init() throws {
    device = try .temporary()
    try device.set("k", 1)
  }

  /// Stands in for the log's own sync while `body` runs, and tells with which flags it was called.
  private static func syncs(
    of device: Device, failing: Bool = false, during body: () throws -> Void
  ) throws -> [Int32] {
    stub.withLock { $0 = (failing ? fsyncFailed : SQLITE_OK, []) }
    let log = try device.tables.access { try $0.logFile() }
    let original = log.pointee.pMethods
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: try #require(original).pointee)
    methods.pointee.xSync = { _, flags in
      stub.withLock {
        $0.flags.append(flags)
        return $0.result
      }
    }
    log.pointee.pMethods = UnsafePointer(methods)
    defer {
      log.pointee.pMethods = original
      methods.deallocate()
    }
    try body()
    return stub.withLock { $0.flags }
  }

  @Test func aBarrierSyncsTheLogOnceAndFully() throws {
    let byWrites = try Self.syncs(of: device) {
      for value in 1...20 { try device.set("k", .integer(Int64(value))) }
    }
    #expect(byWrites == [], "a write alone is left to the system, so only the barrier counts here")
    #expect(try Self.syncs(of: device) { try device.synchronize() } == [SQLITE_SYNC_FULL])
  }

  @Test func aBarrierCoversWhatAnotherProcessCommitted() throws {
    let words = ["set", path, "k", "2", "--type", "integer"]
    #expect(try Command.run(Command.kvsync.get(), words).code == 0)
    #expect(try Self.syncs(of: device) { try device.synchronize() } == [SQLITE_SYNC_FULL])
    #expect(try device.value("k") == 2)
  }

  /// On Apple systems fsync(2) alone leaves it in the disk's cache.
  @Test func aPowerSafeTransactionSyncsTheLogOnceFullyAndACrashSafeOneDoesNot() throws {
    func syncs(_ durability: Durability, inner: Durability = .crashSafe) throws -> [Int32] {
      try Self.syncs(of: device) {
        try device.transaction(durability: durability) {
          try device.set("k", .integer(Int64.random(in: 1...1_000_000)))
          try device.transaction(durability: inner) { try device.set("k", 2) }
        }
      }
    }
    for _ in 0..<3 {
      #expect(try syncs(.crashSafe) == [])
      #expect(try syncs(.powerSafe) == [SQLITE_SYNC_FULL])
      #expect(try syncs(.crashSafe, inner: .powerSafe) == [SQLITE_SYNC_FULL])
      #expect(try syncs(.powerSafe, inner: .powerSafe) == [SQLITE_SYNC_FULL])
    }
    let bySet = try Self.syncs(of: device) { try device.set("k", 3, durability: .powerSafe) }
    #expect(bySet == [SQLITE_SYNC_FULL])
    #expect(try Self.syncs(of: device) { try device.set("k", 4) }.isEmpty)
  }

  @Test(arguments: [false, true])
  func whatCannotBeSyncedIsThrownAndOnlyAPartKeepsItsWrites(isPart: Bool) throws {
    let safe = { [device] in
      try device.transaction(durability: .powerSafe) { try device.set("k", 2) }
    }
    expectError(.inputOutput) {
      try Self.syncs(of: device, failing: true) {
        if isPart { try device.transaction(safe) } else { try safe() }
      }
    }
    #expect(try device.value("k") == (isPart ? 2 : 1))
    try device.transaction(durability: .powerSafe) { try device.set("k", 3) }
    #expect(try device.value("k") == 3)
  }

  @Test func aSyncThatFailsIsThrown() throws {
    expectError(.inputOutput) {
      try Self.syncs(of: device, failing: true) { try device.synchronize() }
    }
    #expect(throws: Never.self) { try device.synchronize() }
    #expect(try device.value("k") == 1)
  }

  @Test(arguments: [false, true])
  func aFileThatWasDeletedOrReplacedIsNotSynced(isReplaced: Bool) throws {
    #expect(try Command.run(Command.find("mv"), [path, path + ".away"]).code == 0)
    if isReplaced {
      #expect(try Command.run(Command.find("cp"), [path + ".away", path]).code == 0)
    }
    expectError(.inputOutput) { try device.synchronize() }
  }

  @Test func whereNothingIsWrittenToADiskNothingIsWaitedFor() throws {
    let memory = try Device.inMemory()
    try memory.set("k", 1)
    #expect(throws: Never.self) { try memory.synchronize() }
    let folder = try TemporaryFolder()
    let path = folder.path + "/device"
    do { try Device(path: path).set("k", 1) }
    let reader = try Device(path: path, access: .readOnly)
    #expect(try Self.syncs(of: reader) { try reader.synchronize() } == [])
  }
}

/// SQLITE_IOERR_FSYNC, a macro that Swift cannot import.
private let fsyncFailed = SQLITE_IOERR | 4 << 8

/// What the stand-in answers, and the flags that it was given. A C function can only use a global.
private let stub = Mutex<(result: Int32, flags: [Int32])>((SQLITE_OK, []))

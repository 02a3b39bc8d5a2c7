// SPDX-License-Identifier: Apache-2.0

import CSQLite
import KeepsakeDevice
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct BarrierTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/device.keepsake" }

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func write(_ device: Device, _ value: StoredValue) throws {
    try device.write([LocalWrite(store: "defaults", key: "k", value: value)])
  }

  /// Stands in for the log's own sync while `body` runs, and tells with which flags it was called.
  private static func syncs(
    of device: Device, failing: Bool = false, during body: () throws -> Void
  ) throws -> [Int32] {
    stub.withLock { $0 = (failing ? fsyncFailed : SQLITE_OK, []) }
    let log = try device.core.access { try $0.logFile() }
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
    let device = try Device(path: path)
    try Self.write(device, 0)
    let byWrites = try Self.syncs(of: device) {
      for value in 1...20 { try Self.write(device, .integer(Int64(value))) }
    }
    #expect(byWrites == [], "a write alone is left to the system, so only the barrier counts here")
    #expect(try Self.syncs(of: device) { try device.synchronize() } == [SQLITE_SYNC_FULL])
  }

  /// On Apple systems fsync(2) alone leaves it in the disk's cache.
  @Test func aPowerSafeCommitSyncsTheLogFully() throws {
    let device = try Device(path: path)
    try Self.write(device, 0)
    let flags = try Self.syncs(of: device) {
      try device.write(
        [LocalWrite(store: "defaults", key: "k", value: 1)], durability: .powerSafe)
    }
    #expect(flags == [SQLITE_SYNC_FULL])
  }

  @Test func aBarrierCoversWhatAnotherProcessCommitted() throws {
    let device = try Device(path: path)
    let words = ["set", path, "k", "1", "--store", "defaults", "--type", "integer"]
    #expect(try Command.run(Command.kvsync.get(), words).code == 0)
    #expect(try Self.syncs(of: device) { try device.synchronize() } == [SQLITE_SYNC_FULL])
    #expect(try device.entry(store: "defaults", key: "k")?.content.value == 1)
  }

  @Test func aPowerSafeTransactionSyncsTheLogOnceAndACrashSafeOneDoesNot() throws {
    let device = try Device(path: path)
    try Self.write(device, 0)
    func syncs(_ durability: Durability, inner: Durability = .crashSafe) throws -> Int {
      try Self.syncs(of: device) {
        try device.transaction(durability: durability) {
          try Self.write(device, .integer(Int64.random(in: 1...1_000_000)))
          try device.transaction(durability: inner) { try Self.write(device, 2) }
        }
      }.count
    }
    for _ in 0..<3 {
      #expect(try syncs(.crashSafe) == 0)
      #expect(try syncs(.powerSafe) == 1)
      #expect(try syncs(.crashSafe, inner: .powerSafe) == 1)
      #expect(try syncs(.powerSafe, inner: .powerSafe) == 1)
    }
    let write = LocalWrite(store: "defaults", key: "k", value: 3)
    #expect(
      try Self.syncs(of: device) { try device.write([write], durability: .powerSafe) }.count == 1)
    #expect(try Self.syncs(of: device) { try Self.write(device, 4) }.isEmpty)
  }

  @Test func whereThePowerSafeCommitCannotBeSyncedNothingIsWritten() throws {
    let device = try Device(path: path)
    try Self.write(device, 1)
    let error = #expect(throws: KeepsakeError.self) {
      try Self.syncs(of: device, failing: true) {
        try device.transaction(durability: .powerSafe) { try Self.write(device, 2) }
      }
    }
    #expect(error?.code == .inputOutput)
    #expect(try device.entry(store: "defaults", key: "k")?.content.value == 1)
    try device.transaction(durability: .powerSafe) { try Self.write(device, 3) }
    #expect(try device.entry(store: "defaults", key: "k")?.content.value == 3)
  }

  @Test func aPowerSafePartThatCannotBeSyncedIsThrownAndItsWritesAreThere() throws {
    let device = try Device(path: path)
    try Self.write(device, 1)
    let error = #expect(throws: KeepsakeError.self) {
      try Self.syncs(of: device, failing: true) {
        try device.transaction {
          try device.transaction(durability: .powerSafe) { try Self.write(device, 2) }
        }
      }
    }
    #expect(error?.code == .inputOutput)
    #expect(try device.entry(store: "defaults", key: "k")?.content.value == 2)
  }

  @Test func aSyncThatFailsIsThrown() throws {
    let device = try Device(path: path)
    try Self.write(device, 1)
    let error = #expect(throws: KeepsakeError.self) {
      try Self.syncs(of: device, failing: true) { try device.synchronize() }
    }
    #expect(error?.code == .inputOutput)
    #expect(throws: Never.self) { try device.synchronize() }
    #expect(try device.entry(store: "defaults", key: "k")?.content.value == 1)
  }

  @Test(arguments: [false, true])
  func aFileThatWasDeletedOrReplacedIsNotSynced(isReplaced: Bool) throws {
    let device = try Device(path: path)
    try Self.write(device, 1)
    #expect(try Command.run(Command.find("mv"), [path, path + ".away"]).code == 0)
    if isReplaced {
      #expect(try Command.run(Command.find("cp"), [path + ".away", path]).code == 0)
    }
    let error = #expect(throws: KeepsakeError.self) { try device.synchronize() }
    #expect(error?.code == .inputOutput)
  }

  @Test func whereNothingIsWrittenToADiskNothingIsWaitedFor() throws {
    let memory = try Device.inMemory()
    try Self.write(memory, 1)
    #expect(throws: Never.self) { try memory.synchronize() }
    do { try Self.write(Device(path: path), 1) }
    let reader = try Device(path: path, access: .readOnly)
    #expect(try Self.syncs(of: reader) { try reader.synchronize() } == [])
  }
}

/// SQLITE_IOERR_FSYNC, a macro that Swift cannot import.
private let fsyncFailed = SQLITE_IOERR | 4 << 8

/// What the stand-in answers, and the flags that it was given. A C function can only use a global.
private let stub = Mutex<(result: Int32, flags: [Int32])>((SQLITE_OK, []))

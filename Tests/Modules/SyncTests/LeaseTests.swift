// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct LeaseTests {
  private let clock = ManualClock()
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ name: String) throws -> Device {
    try Device(
      path: "\(folder.path)/\(name)", busyTimeout: .milliseconds(20), clock: clock.wallClock)
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder.path)/\(name)")
  }

  @Test func whatAnotherProcessMergesIsLockedForAllThatReshapesIt() throws {
    let (a, b) = (try open("a"), try open("b"))
    try a.write([LocalWrite(store: "cloud", key: "k", value: 1)])
    let peer = ReplicaID(rawValue: 7)
    let leaser = try Leaser(b.path)
    let works: [() throws -> Void] = [
      { try a.merge(with: b) }, { try b.merge(with: a) }, { try b.compact() },
      { _ = try b.examine(repairs: true) },
      { try b.repairClock(isForced: true, as: peer) },
    ]
    clock.milliseconds += 10 * 86_400_000
    try b.write([LocalWrite(store: "cloud", key: "own", value: 1)])
    clock.milliseconds -= 10 * 86_400_000
    for (number, work) in works.enumerated() {
      let error = #expect(throws: KeepsakeError.self, "\(number)") { try work() }
      #expect(error?.code == .locked && error?.path == b.path, "\(number) \(error as Any)")
    }
    #expect(try b.examine().map(\.kind) == [.clock])
    #expect(try b.entry(store: "cloud", key: "k") == nil)
    #expect(try a.entry(store: "cloud", key: "own") == nil)
    // A killed process leaves its file, which stops no other one.
    leaser.kill()
    #expect(exists("b.lease"))
    // Other tests merge in this process, and this waits for its turn.
    let repair = try Lease.hold([]) { () throws(KeepsakeError) in
      try b.repairClock(isForced: true, as: peer)
    }
    #expect(repair?.restamped == 1)
    #expect(try a.merge(with: b).hasConverged)
  }

  @Test func aLeaseIsALockedFileUntilTheDeviceIsClosed() throws {
    do {
      let devices = try ["a", "b"].map(open)
      for value in 0..<2 {
        try devices[0].write([LocalWrite(store: "cloud", key: "k", value: .integer(Int64(value)))])
        try devices[0].merge(with: devices[1])
        #expect(exists("a.lease") && exists("b.lease"))
      }
      // As another process does that closes the device.
      try FileManager.default.removeItem(atPath: "\(folder.path)/b.lease")
      try devices[1].write([LocalWrite(store: "cloud", key: "k", value: 2)])
      #expect(try devices[0].merge(with: devices[1]).hasConverged)
      #expect(exists("b.lease"))
      withExtendedLifetime(devices) {}
    }
    #expect(!exists("a.lease") && !exists("b.lease"))
  }

  @Test func aMergeThatFindsNothingNewWaitsForNoLease() throws {
    let (a, b) = (try open("a"), try open("b"))
    try a.write([LocalWrite(store: "cloud", key: "k", value: 1)])
    try a.merge(with: b)
    let leaser = try Leaser(b.path)
    defer { leaser.kill() }
    #expect(try a.merge(with: b).hasConverged)
  }

  @Test func aOneWayMergeLeasesNoSourceThatItOnlyReads() throws {
    try open("a").write([LocalWrite(store: "cloud", key: "k", value: 1)])
    let a = try Device(path: "\(folder.path)/a", access: .readOnly, clock: clock.wallClock)
    let b = try open("b")
    let leaser = try Leaser(a.path)
    defer { leaser.kill() }
    _ = try Merge.run([a, b], options: MergeOptions(isOneWay: true))
    #expect(try b.entry(store: "cloud", key: "k")?.content.value == 1)
  }

  @Test func aFileInThePlaceOfALeaseIsNotTouched() throws {
    let (a, b, other) = (try open("a"), try open("b"), try open("b.lease"))
    try other.write([LocalWrite(store: "cloud", key: "k", value: 1)])
    let error = #expect(throws: KeepsakeError.self) { try a.merge(with: b) }
    #expect(error?.code == .cannotCreate && error?.path == b.path)
    #expect(error?.problem == "\(b.path).lease is in the way of its lock")
    try other.checkIntegrity()
    #expect(try other.entry(store: "cloud", key: "k")?.content.value == 1)
  }
}

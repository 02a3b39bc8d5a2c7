// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct HubSyncTests: ManualClockSuite {
  let clock = ManualClock()
  let a: Device
  let b: Device
  let hub: MemoryHub

  init() throws {
    a = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    b = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
    hub = try MemoryHub(account: 9)
  }

  /// - Parameter act: runs at the first boundary of that name.
  /// - Returns: the boundaries, and the report.
  @discardableResult
  func sync(
    _ device: Device, pageSize: Int = 1_000, at boundary: MergeHooks.Boundary = .noted,
    _ act: @escaping () throws -> Void = {}
  ) throws -> (boundaries: [MergeHooks.Boundary], report: MergeReport) {
    clock.milliseconds += 1
    hub.clock = clock.milliseconds
    var boundaries: [MergeHooks.Boundary] = []
    let hooks = MergeHooks {
      if $0 == boundary, !boundaries.contains(boundary) {
        #expect(throws: Never.self) { try act() }
      }
      boundaries.append($0)
      return nil
    }
    let sync = HubSync(device, MemoryChannel(hub), pageSize: pageSize, hooks: hooks)
    #expect(try sync.run())
    return (boundaries, sync.report)
  }

  /// A sync whose process ends at a boundary.
  private func end(
    _ device: Device, pageSize: Int = 1_000, at boundary: MergeHooks.Boundary
  ) {
    clock.milliseconds += 1
    hub.clock = clock.milliseconds
    let hooks = MergeHooks.end(at: boundary)
    #expect(throws: KeepsakeError.self) {
      try HubSync(device, MemoryChannel(hub), pageSize: pageSize, hooks: hooks).run()
    }
  }

  @Test func pagesAreSmallerAfterARefusalAndGrowAgain() throws {
    try set(a, count: 64, "of a")
    let sync = try sync(a, pageSize: 16, at: .read) {
      try set(b, "k0", "of b")
      try self.sync(b)
    }
    // 16, refused; then 4, 8, 16, 16, 16, and the rest.
    #expect(sync.boundaries.count { $0 == .pushed } == 7)
  }

  @Test func aDeviceThatHasForgottenDeletionsReadsTheHubInFullOnceInASync() throws {
    for key in ["j", "k", "l", "m"] { try set(b, key, "of b") }
    try sync(b)
    try sync(a)
    try set(a, "gone", 1)
    try set(a, "gone", nil)
    try set(a, "k", "of a")
    let before = HybridTimestamp(milliseconds: clock.milliseconds + 1)
    _ = try a.tables.write { (try $0.forget(before: before), []) }
    let sync = try sync(a, pageSize: 1, at: .read) {
      try set(b, "k", "of b again")
      try self.sync(b)
    }
    #expect(sync.boundaries.count { $0 == .page } == 3)
    #expect(sync.report.events == [.readInFull(device: 1, by: 0)])
    #expect(try a.value("k") == "of b again")
  }

  @Test func aHubKeepsADeletionThatIsYoungerThanThoseThatMayBeForgotten() throws {
    try set(a, "k", "old")
    try sync(a)
    try set(a, "k", nil)
    try sync(a)
    let cut = HybridTimestamp(milliseconds: clock.milliseconds)
    let deletions = try a.tables.read { try $0.deletions(before: cut) }
    #expect(deletions.count == 1)
    _ = try a.tables.write { (try $0.forget(before: cut), []) }
    // As other processes may do meanwhile.
    try set(a, "k", "new")
    try set(a, "k", nil)
    try sync(a)
    try sync(b)
    try a.forget(deletions, at: MemoryChannel(hub))
    #expect(try hub.state().rows.count == 1)
  }

  @Test func aHubThatIsSetBackAfterAPushIsFoundAtTheNextSync() throws {
    try set(a, "k", "old")
    for device in [a, b] { try sync(device) }
    let image = hub.image
    try set(a, "j", "of a")
    // So the cursor stays before what was pushed.
    try sync(a, at: .read) {
      try set(b, "l", "of b")
      try self.sync(b)
    }
    hub.image = image
    try sync(a)
    try sync(b)
    #expect(try b.value("j") == "of a")
  }

  @Test func aHubThatIsSetBackBetweenTwoPagesOfAPushIsFoundByTheNextAttempt() throws {
    try set(a, "k", "old")
    for device in [a, b] { try sync(device) }
    let image = hub.image
    try set(a, "j", "of a")
    try set(a, "l", "of a")
    var pages = 0
    clock.milliseconds += 1
    hub.clock = clock.milliseconds
    let hooks = MergeHooks { boundary in
      guard boundary == .read else { return nil }
      pages += 1
      if pages == 1 {
        #expect(throws: Never.self) {
          try set(b, "m", "of b")
          try sync(b)
        }
      } else if pages == 2 {
        hub.image = image
      }
      return nil
    }
    #expect(try HubSync(a, MemoryChannel(hub), pageSize: 1, hooks: hooks).run())
    try sync(b)
    #expect(try b.value("j") == "of a" && b.value("l") == "of a")
  }

  @Test func whatADeviceHasReadBeforeAPushOfItsOwnFailedIsKnownToTheHub() throws {
    let c = try Device.inMemory(identity: ReplicaID(rawValue: 3), clock: clock.wallClock)
    try set(b, "k", "read")
    for device in [b, c] { try sync(device) }
    try set(a, "own", "of a")
    end(a, at: .read)
    try set(c, "k", "knowing")
    try set(c, "m", "more")
    // The row is on the hub, the vectors that cover what it replaces are not.
    end(c, pageSize: 1, at: .pushed)
    try sync(a)
    #expect(try a.value("k") == "knowing")
    #expect(try a.conflicts().isEmpty)
  }

  @Test func aRepairDuringAPushCutsTheTimeOfTheMarkThatWasSent() throws {
    try set(a, "j", "soon")
    let now = clock.milliseconds
    clock.milliseconds += 3 * 86_400_000
    try set(a, "k", "late")
    clock.milliseconds = now
    try sync(a, at: .pushed) { try a.repairClock(as: ReplicaID(rawValue: 3)) }
    let (sent, last) = try a.tables.read {
      (try $0.hubs.cursor(of: 9).sent.timestamp, try ReplicaState($0).last)
    }
    #expect(sent > .zero && sent <= last)
    #expect(last.milliseconds < now + 86_400_000)
  }

  /// It is neither pushed over the later row nor lost without a trace, and not too large.
  @Test func aWriteThatIsOlderThanARowThatWaitsIsLoggedWhenThatIsDue() throws {
    let start = clock.milliseconds
    clock.milliseconds += 480_000
    try set(a, "k", "waits")
    // The hub's clock is set back while it takes the row.
    try sync(a, at: .read) { hub.clock = start }
    clock.milliseconds = start
    try sync(b)
    try set(b, "k", "of b")
    let report = try sync(b).report
    #expect(report.events.isEmpty)
    #expect(report.waiting.count == 1 && !report.hasConverged)
    #expect(try b.value("k") == "of b")
    clock.milliseconds += 600_000
    try sync(b)
    #expect(try b.value("k") == "waits")
    #expect(try b.conflicts().map(\.lost) == ["of b"])
  }

  @Test(arguments: [0, 1000])
  func aRowThatIsHeldForItsTimeIsCountedWhateverTheReportLists(limit: Int) throws {
    try a.write([
      LocalWrite(store: "cloud", key: "f", value: 1, wallClock: clock.milliseconds + 3_600_000)
    ])
    hub.clock = clock.milliseconds
    let sync = HubSync(a, MemoryChannel(hub), options: MergeOptions(changeLimit: limit))
    #expect(try sync.run())
    #expect(sync.report.transfers.first { $0.into == 1 }?.waiting == 1)
    #expect(sync.report.waiting.count == min(limit, 1))
  }

  @Test func aVectorOfAnImpossibleReplicaIDSpoilsNoPush() throws {
    try set(a, "k", "of a")
    try a.execute("INSERT INTO seen VALUES ('cloud', -5, 65536), ('cloud', 7, 65536)")
    try sync(a)
    try sync(b)
    let ids = try b.tables.read { try $0.all("SELECT replica_id FROM seen") { $0.integer(0) } }
    #expect(ids == [1, 7])
  }

  @Test func twoKeysThatDifferInBytesStayTwoOnAHub() throws {
    let addresses = [("cloud:a/\u{338}b", "k"), ("cloud:a", "\u{338}b/k"), ("cloud:a%2F", "k")]
    for (number, (store, key)) in addresses.enumerated() {
      try a.write([LocalWrite(store: store, key: key, value: .integer(Int64(number)))])
    }
    try sync(a)
    try sync(b)
    for (number, (store, key)) in addresses.enumerated() {
      #expect(try b.entry(store: store, key: key)?.content.value == .integer(Int64(number)))
    }
  }
}

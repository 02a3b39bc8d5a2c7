// SPDX-License-Identifier: Apache-2.0
//
// What an application does about writes that lost an exchange.

import Keepsake
import KeepsakeTesting
import Synchronization
import TestSupport
import Testing

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var tags = ["base"]
  @Setting var other = 0
}

@Suite(.serialized) struct ConflictResolutionTests {
  private let clock = ManualClock()
  private let device: Device
  private let there: Device
  private let settings: Shared
  private let theirs: Shared
  private let heard = Collected<Conflict>()

  init() throws {
    device = try Device.temporary(clock: clock.wallClock)
    there = try Device.temporary(clock: clock.wallClock)
    settings = try Shared(on: device)
    theirs = try Shared(on: there)
  }

  /// Both set the tags, without knowing of each other; the other device is the last.
  private func disagree(_ mine: [String], _ other: [String]) {
    clock.milliseconds += 1
    settings.tags = mine
    clock.milliseconds += 1
    theirs.tags = other
  }

  private func kvsync(_ words: String...) throws {
    let ending = try Command.run(Command.kvsync.get(), words)
    #expect(ending.code == 0, "\(ending)")
  }

  /// Waits for what nothing signals, for as long as a loaded machine may need.
  private func wait(until isSo: () throws -> Bool) throws {
    let limit = ContinuousClock.now + .seconds(30)
    while try !isSo() { try #require(ContinuousClock.now < limit) }
  }

  /// Waits for conflicts that `unite` was called with, and for the end of its transaction.
  private func waitForDecisions(_ count: Int) throws {
    #expect(heard.wait { $0.count == count })
    try settings.device.transaction {}
  }

  private func unite(_ conflict: Conflict) throws {
    guard let lost = try settings.$tags.lost(in: conflict) else { return }
    settings.tags = Set(settings.tags + lost).sorted()
    heard.append([conflict])
  }

  @Test func aStoreListsItsOwnConflictsAndRestoresThem() throws {
    let work = try CloudKeyValueStore(on: device, name: "work")
    let workThere = try CloudKeyValueStore(on: there, name: "work")
    work["k"] = 1
    clock.milliseconds += 1
    workThere["k"] = 2
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    #expect(settings.tags == ["theirs"])
    let conflicts = try settings.conflicts
    #expect(conflicts.map(\.key) == ["tags"])
    #expect(try settings.$tags.lost(in: conflicts[0]) == ["mine"])
    #expect(try settings.$other.lost(in: conflicts[0]) == nil)
    #expect(try work.conflicts.map(\.lost) == [1])
    #expect(try theirs.conflicts.isEmpty)
    #expect(!conflicts[0].isResolved)
    try device.restore(conflicts[0])
    #expect(settings.tags == ["mine"])
    #expect(try settings.conflicts.map(\.isResolved) == [true])
    #expect(try work.conflicts.map(\.isResolved) == [false])
    try there.merge(with: device)
    #expect(theirs.tags == ["mine"])
  }

  @Test func whatWasLostIsReadFromTheConflictNotFromALaunchArgument() throws {
    final class Local: UserDefaultsStore, @unchecked Sendable {
      @Setting var size = 0
    }
    let here = try Local(on: device, arguments: LaunchArguments(["", "-size", "77"]))
    let elsewhere = try Local(on: there, arguments: .none)
    here.size = 1
    clock.milliseconds += 1
    elsewhere.size = 2
    try device.merge(with: there, options: MergeOptions(stores: ["defaults"]))
    let conflict = try #require(try here.conflicts.first)
    #expect(try here.$size.lost(in: conflict) == 1)
    #expect(here.size == 77)
  }

  @Test func conflictsAreNotifiedWhicheverProcessFindsThem() throws {
    let token = settings.observeConflicts { heard.append($0) }
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    #expect(heard.sets.map { $0.map(\.key) } == [["tags"]])
    disagree(["a"], ["b"])
    clock.milliseconds += 1
    try kvsync("merge", there.path, device.path)
    #expect(heard.wait { $0.count == 2 })
    settings.other = 1
    token.cancel()
    disagree(["c"], ["d"])
    try device.merge(with: there)
    #expect(heard.sets.map(\.count) == [1, 1])
    #expect(heard.sets.flatMap { $0 } == Array(try settings.conflicts.prefix(2)))
  }

  @Test func aClosureDecidesWhenTheExchangeIsOverAndItsWriteTravels() throws {
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    // What was open before it was there, too.
    let token = settings.resolveConflicts { try unite($0) }
    try waitForDecisions(1)
    #expect(settings.tags == ["mine", "theirs"])
    disagree(["x"], ["y"])
    let report = try device.merge(with: there)
    #expect(report.hasConverged)
    try waitForDecisions(2)
    #expect(settings.tags == ["x", "y"])
    #expect(try settings.conflicts.allSatisfy(\.isResolved))
    try device.merge(with: there)
    #expect(theirs.tags == ["x", "y"])
    token.cancel()
    #expect(settings.errors.isEmpty)
  }

  @Test func ofSeveralHandlesOneDecidesOnce() throws {
    let second = try Shared(on: device)
    let tokens = [
      settings.resolveConflicts { try unite($0) }, second.resolveConflicts { try unite($0) },
    ]
    for round in 0..<10 {
      disagree(["mine \(round)"], ["theirs \(round)"])
      try device.merge(with: there)
      #expect(heard.wait { $0.count == round + 1 })
    }
    for token in tokens { token.cancel() }
    #expect(heard.sets.flatMap { $0.map(\.id) } == (1...10).map(Int64.init))
  }

  @Test func whatCannotBeDecidedStaysOpenAndIsReported() throws {
    struct Undecided: Error {}
    let tries = Collected<Conflict>()
    let decided = Collected<Bool>()
    let token = settings.resolveConflicts { conflict in
      settings.other = 7
      tries.append([conflict])
      if decided.sets.isEmpty { throw Undecided() }
    }
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    #expect(tries.wait { !$0.isEmpty })
    try wait { !settings.errors.isEmpty }
    #expect(settings.errors.allSatisfy { $0.operation == .resolve })
    #expect(settings.errors.first?.cause is Undecided)
    #expect(try settings.conflicts.map(\.isResolved) == [false])
    #expect(settings.other == 0, "what it wrote was taken back")
    decided.append([true])
    settings.tags = ["next"]
    let limit = ContinuousClock.now + .seconds(30)
    while try !settings.conflicts[0].isResolved, ContinuousClock.now < limit {}
    #expect(try settings.conflicts[0].isResolved)
    #expect(settings.other == 7)
    token.cancel()
  }

  @Test func aCancellationInTheClosureIsReported() throws {
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    let token = settings.resolveConflicts { _ in throw CancellationError() }
    let limit = ContinuousClock.now + .seconds(30)
    while settings.errors.isEmpty, ContinuousClock.now < limit {}
    #expect(settings.errors.first?.cause is CancellationError)
    token.cancel()
  }

  /// The other device's resolver has taken it over, failed too, and ended.
  @Test func whatCouldNotBeDecidedIsTakenBackAfterTheNextWrite() throws {
    struct Undecided: Error {}
    let fails = Mutex(true)
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    let session = SyncSession(device, there) { Issue.record($0) }
    let token = settings.resolveConflicts { conflict in
      if fails.withLock({ $0 }) { throw Undecided() }
      heard.append([conflict])
    }
    try wait { !settings.errors.isEmpty }
    let tried = Collected<Conflict>()
    let other = theirs.resolveConflicts { conflict in
      tried.append([conflict])
      throw Undecided()
    }
    #expect(tried.wait { !$0.isEmpty })
    other.cancel()
    fails.withLock { $0 = false }
    settings.other += 1
    #expect(heard.wait { $0.count == 1 })
    token.cancel()
    session.cancel()
  }

  /// Each takes the conflict over from the other once, and not again as long as nothing is written;
  /// meanwhile what is in its own log is tried at each exchange, of which there are about five.
  @Test func twoResolversThatFailComeToRest() throws {
    struct Undecided: Error {}
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    let tries = Collected<Int>()
    let tokens = [settings, theirs].enumerated().map { place, settings in
      settings.resolveConflicts { _ in
        tries.append([place])
        throw Undecided()
      }
    }
    let session = SyncSession(device, there) { Issue.record($0) }
    #expect(tries.wait { Set($0).count == 2 })
    // What one begins may begin something at the other.
    for device in [device, there, device, there] {
      #expect(device.core.shared.pending.wait(seconds: 30))
    }
    #expect(tries.sets.count <= 20, "\(tries.sets.count)")
    session.cancel()
    tokens.forEach { $0.cancel() }
  }

  /// Its first merge finds nothing to write, so that no commit wakes the resolver.
  @Test func aSessionThatBeginsLaterBringsThePartnersConflicts() throws {
    disagree(["mine"], ["theirs"])
    try there.merge(with: device)
    disagree(["mine, again"], ["theirs, again"])
    try device.merge(with: there)
    try there.merge(with: device)
    try #require(try device.conflicts().count == 1 && there.conflicts().count == 1)
    let token = settings.resolveConflicts { heard.append([$0]) }
    #expect(heard.wait { $0.count == 1 })
    try wait { try device.conflicts()[0].isResolved }
    let session = SyncSession(device, there) { Issue.record($0) }
    #expect(heard.wait { $0.count == 2 })
    token.cancel()
    session.cancel()
  }

  @Test func aSessionOfOtherDevicesWakesNoResolver() throws {
    struct Undecided: Error {}
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    let tries = Collected<Int>()
    let token = settings.resolveConflicts { [settings] _ in
      tries.append([settings.other])
      throw Undecided()
    }
    #expect(tries.wait { $0.count >= 1 })
    let reports = Collected<MergeReport>()
    let others = try [Device.temporary(), Device.temporary()]
    try Shared(on: others[0]).other = 1
    let session = SyncSession(others[0], others[1], onExchange: { reports.append([$0]) }) {
      Issue.record($0)
    }
    #expect(reports.wait { $0.count >= 1 })
    settings.other = 1
    #expect(tries.wait { $0.count >= 2 })
    #expect(tries.sets[1] == [1], "the write, not the session, has woken it")
    session.cancel()
    token.cancel()
  }
}

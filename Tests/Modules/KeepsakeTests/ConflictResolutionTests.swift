// SPDX-License-Identifier: Apache-2.0
//
// What an application does about writes that lost a merge.

import Keepsake
import KeepsakeTesting
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

  @Test func aClosureDecidesWhenTheMergeIsOverAndItsWriteTravels() throws {
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
    #expect(settings.failures.isEmpty)
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
    try wait { !settings.failures.isEmpty }
    #expect(settings.failures.allSatisfy { $0.operation == .resolve })
    #expect(settings.failures.first?.cause is Undecided)
    #expect(try settings.conflicts.map(\.isResolved) == [false])
    #expect(settings.other == 0, "what it wrote was taken back")
    decided.append([true])
    settings.tags = ["next"]
    try wait { try settings.conflicts[0].isResolved }
    #expect(settings.other == 7)
    token.cancel()
  }

  @Test func aCancellationInTheClosureIsReported() throws {
    disagree(["mine"], ["theirs"])
    try device.merge(with: there)
    let token = settings.resolveConflicts { _ in throw CancellationError() }
    try wait { !settings.failures.isEmpty }
    #expect(settings.failures.first?.cause is CancellationError)
    token.cancel()
  }
}

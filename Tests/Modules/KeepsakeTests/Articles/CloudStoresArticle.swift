// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeInjection
import KeepsakeTesting
import TestSupport
import Testing

private final class SharedSettings: SyncedSettings, @unchecked Sendable {
  @Setting var theme = "light"
  @Setting var volume = 5
  @Setting var plainRuns = 0
}

extension SharedSettings {
  func countRun() throws {
    try setting(SettingKey("runs.\(device.replica())", default: 0)).increment()
  }
  var runs: Int {
    let keys = dictionaryRepresentation().keys.filter { $0.hasPrefix("runs.") }
    return keys.reduce(0) { $0 + self[SettingKey($1, default: 0)] }
  }
}

@Suite struct CloudStoresArticle {

  private let clock = ManualClock()
  private let (phone, laptop): (Device, Device)

  init() throws {
    (phone, laptop) = (try .inMemory(clock: clock), try .inMemory(clock: clock))
  }

  @Test func devicesSync() throws {
    let (here, there) = (try SharedSettings(on: phone), try SharedSettings(on: laptop))
    here.theme = "dark"
    there.volume = 7
    let report = try phone.merge(with: laptop)
    #expect(report.hasConverged)
    #expect(here.volume == 7 && there.theme == "dark")
  }

  @Test func aSumCountsWhatAMergeWouldNot() throws {
    let (here, there) = (try SharedSettings(on: phone), try SharedSettings(on: laptop))
    for settings in [here, there] {
      try settings.$plainRuns.increment()
      for _ in 0..<2 { try settings.countRun() }
    }
    try phone.merge(with: laptop)
    #expect(here.runs == 4 && there.runs == 4)
    #expect(try here.plainRuns == 1 && there.plainRuns == 1 && here.conflicts.isEmpty)
  }

  @Test func whatIsKnownIsSaid() throws {
    let here = try SharedSettings(on: phone)
    #expect(try here.valueState(forKey: "theme") == .notYetSynced)
    here.volume = 7
    try phone.merge(with: laptop)
    #expect(try here.valueState(forKey: "theme") == .default)
    here.theme = "dark"
    #expect(try here.valueState(forKey: "theme") == .set)
    let lastMerge = clock.now
    clock.advance(by: .seconds(60))
    #expect(try here.syncState == .pending(changes: 1, asOf: lastMerge))
  }

  @Test func anAccountIsAnotherDevice() throws {
    let (home, work) = (phone, laptop)
    let app = Container()
    try app.set(SharedSettings(on: home))
    try app.set(SharedSettings(on: work))
    let settings: SharedSettings = try app.get()
    #expect(settings.device === work)
  }
}

/// The code of the sections on conflicts.
@Suite struct ConflictSnippets {
  final class SharedSettings: SyncedSettings, @unchecked Sendable {
    @Setting var theme = "light"
    @Setting var tags: Set<String> = []
  }

  private let (phone, laptop): (Device, Device)
  private let (here, there): (SharedSettings, SharedSettings)

  init() throws {
    let clock = ManualClock()
    phone = try .inMemory(clock: clock)
    // A second later, by a clock of its own.
    laptop = try .inMemory(clock: ManualClock(clock.now.addingTimeInterval(1)))
    (here, there) = (try SharedSettings(on: phone), try SharedSettings(on: laptop))
  }

  @Test func aConflictIsFoundAndRestored() throws {
    here.theme = "dark"
    there.theme = "sepia"  // later, and without knowledge of it
    let report = try phone.merge(with: laptop)
    let conflict = try here.conflicts[0]
    #expect(conflict.key == "theme" && conflict.lost == "dark" && !conflict.isResolved)
    #expect(report.conflicts.map(\.conflict) == [conflict])
    #expect(try here.$theme.lost(in: conflict) == "dark")
    try phone.restore(conflict)
    #expect(try here.theme == "dark" && here.conflicts[0].isResolved)
  }

  @Test func aClosureDecides() throws {
    let settings = here
    let united = Heard()
    let observation = settings.observe("tags") { united.append($0) }
    settings.tags = ["mine"]
    there.tags = ["theirs"]
    try phone.merge(with: laptop)
    let token = settings.resolveConflicts { [settings] conflict in
      guard let lost = try settings.$tags.lost(in: conflict) else { return }
      settings.tags.formUnion(lost)
    }
    #expect(united.wait { $0.count == 3 })
    #expect(settings.tags == ["mine", "theirs"])
    token.cancel()
    observation.cancel()
  }
}

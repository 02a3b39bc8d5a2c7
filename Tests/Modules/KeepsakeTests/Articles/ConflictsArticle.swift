// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeTesting
import TestSupport
import Testing

@Suite struct ConflictsArticle {
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

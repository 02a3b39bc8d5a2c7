// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import TestSupport
import Testing

@Suite struct UpkeepReportsTests {
  private final class Owner: Sendable {}

  @Test func whatAStoreThatHasGoneGaveIsForgotten() throws {
    let reports = UpkeepReports()
    var owner: Owner? = Owner()
    weak var kept: Owner?
    do {
      let held = Owner()
      kept = held
      reports.tell(try #require(owner)) { _ in withExtendedLifetime(held) {} }
    }
    #expect(kept != nil)
    owner = nil
    let next = Owner()
    reports.tell(next) { _ in }
    #expect(kept == nil)
    withExtendedLifetime(next) {}
  }
}

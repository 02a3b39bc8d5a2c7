// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import Synchronization
  import Testing

  @Suite struct HubStreamTests {
    @Test func whoListensIsCountedOnceHoweverOftenTheEndIsTold() {
      let count = Mutex(0.0)
      let listeners = Listeners { change in count.withLock { $0 += change } }
      var phone = HubMember(account: 1, name: "phone", tokenHash: [1], created: 0)
      phone.number = 1
      var laptop = phone
      laptop.number = 2
      let all = (0..<5).map { _ in listeners.add(phone, most: 4) }
      let other = listeners.add(laptop, most: 4)
      #expect(count.withLock(\.self) == 5)
      for _ in 0..<2 { all.forEach(listeners.remove) }
      #expect(count.withLock(\.self) == 1)
      listeners.tell(1, 7)
      #expect(other.heard == 7 && all.allSatisfy { $0.heard == 0 })
    }

    @Test func aFirstMergeOfAFullAccountIsNotAskedTooOften() {
      let limits = ServerLimits()
      let rate = RateLimit(perMinute: limits.requestsPerMinute, burst: limits.burst)
      let pages = limits.account.rows / limits.pageRows
      #expect((0..<pages + 10).allSatisfy { _ in rate.take(1, at: 0) == nil })
      #expect((0..<1_000).contains { _ in rate.take(1, at: 0) != nil })
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubServer
  import Testing

  @testable import KeepsakeHubHTTP

  @Suite struct HubStreamTests {
    @Test func whoListensIsCountedOnceHoweverOftenTheEndIsTold() {
      let prometheus = PrometheusFactory()
      let listeners = Listeners(HubMetrics(prometheus))
      func count() -> String? {
        prometheus.text.split(separator: "\n").last { $0.hasPrefix("keepsake_hub_listeners ") }
          .map { String($0.dropFirst("keepsake_hub_listeners ".count)) }
      }
      var phone = HubMember(account: 1, name: "phone", tokenHash: [1], created: 0)
      phone.number = 1
      var laptop = phone
      laptop.number = 2
      let all = (0..<5).map { _ in listeners.add(phone, most: 4) }
      let other = listeners.add(laptop, most: 4)
      #expect(count() == "5")
      for _ in 0..<2 { all.forEach(listeners.remove) }
      #expect(count() == "1")
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

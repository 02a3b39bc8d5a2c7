// SPDX-License-Identifier: Apache-2.0

import HubScript
import KeepsakeDevice
import KeepsakeHub
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// A device whose version cannot read all rows of a hub.
@Suite struct OlderVersionTests {
  @Test func aRowThatCannotBeReadIsNotReplacedUnread() throws {
    let (clock, served) = (ManualClock(), ServedHub())
    let isNewer = Mutex(true)
    let membership = try served.membership()
    let phone = try Device.inMemory(clock: clock.wallClock)
    let laptop = try Device.inMemory(clock: clock.wallClock)
    let hub = try Hub.scripted(membership) { served.answer($0, at: clock) }.hub
    let other = try Hub.scripted(served.membership(beside: membership)) { request in
      var reply = served.answer(request, at: clock)
      guard isNewer.withLock(\.self), case .body(let bytes)? = reply.events.dropFirst().first
      else { return reply }
      let text = String(decoding: bytes, as: UTF8.self)
      reply.events[1] = .body(
        Array(text.replacing(#""type":"string""#, with: #""type":"point""#).utf8))
      return reply
    }.hub
    try phone.write([LocalWrite(store: "cloud", key: "theme", value: "of phone")])
    try phone.merge(with: hub)
    clock.milliseconds += 1_000
    try laptop.write([LocalWrite(store: "cloud", key: "theme", value: "of laptop")])
    for _ in 0..<2 {
      #expect(try laptop.merge(with: other).events == [.unreadable(count: 1)])
      #expect(try phone.merge(with: hub).transfers[0].received == 0)
    }
    isNewer.withLock { $0 = false }
    #expect(try laptop.merge(with: other).conflicts.map(\.conflict.lost) == ["of phone"])
    try phone.merge(with: hub)
    #expect(try phone.entry(store: "cloud", key: "theme")?.content.value == "of laptop")
  }

  @Test func aRowThatCannotBeReadIsNotReplacedByAnOlderOne() throws {
    let (clock, served) = (ManualClock(), ServedHub())
    let isNewer = Mutex(false)
    let membership = try served.membership()
    let phone = try Device.inMemory(clock: clock.wallClock)
    let laptop = try Device.inMemory(clock: clock.wallClock)
    let hub = try Hub.scripted(membership) { served.answer($0, at: clock) }.hub
    let (other, transport) = try Hub.scripted(served.membership(beside: membership)) { request in
      var reply = served.answer(request, at: clock)
      guard case .body(let bytes)? = reply.events.dropFirst().first else { return reply }
      // One row at first, and later both.
      let store = isNewer.withLock(\.self) ? #""store":"cloud"# : #""store":"cloud:a"#
      let text = String(decoding: bytes, as: UTF8.self).replacing(store, with: #""store":"new:"#)
      reply.events[1] = .body(Array(text.utf8))
      return reply
    }
    try phone.write([
      LocalWrite(store: "cloud", key: "theme", value: "old"),
      LocalWrite(store: "cloud:a", key: "other", value: 1),
    ])
    try phone.merge(with: hub)
    #expect(try laptop.merge(with: other).events == [.unreadable(count: 1)])
    clock.milliseconds += 1_000
    try phone.write([LocalWrite(store: "cloud", key: "theme", value: "new")])
    try phone.merge(with: hub)
    isNewer.withLock { $0 = true }
    let pushes = transport.requests.count { $0.method == "POST" }
    for _ in 0..<2 {
      #expect(try laptop.merge(with: other).events == [.unreadable(count: 2)])
    }
    #expect(transport.requests.count { $0.method == "POST" } == pushes)
    #expect(try phone.merge(with: hub).transfers[0].received == 0)
  }
}

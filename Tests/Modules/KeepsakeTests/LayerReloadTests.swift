// SPDX-License-Identifier: Apache-2.0
//
// What reloads of given layers wait for, and what they read.

import Foundation
import Keepsake
import KeepsakeTesting
import Synchronization
import TestSupport
import Testing

private final class Store: UserDefaultsStore, @unchecked Sendable {
  @Setting var volume = 5
}

@Suite struct LayerReloadTests {
  @Test(.timeLimit(.minutes(1))) func reloadsAndTransactionsDoNotWaitForEachOther() throws {
    let layer = SettingsLayer.given(.managed, ["volume": [0]])
    let device = try Device.inMemory()
    let store = try Store(on: device, layers: [layer], arguments: .none)
    let token = store.observe("volume") { _ in }
    DispatchQueue.concurrentPerform(iterations: 400) { number in
      let give = { layer.give(["volume": [.integer(Int64(number + 1))]]) }
      guard number.isMultiple(of: 2) else { return give() }
      #expect(throws: Never.self) { try device.transaction { give() } }
    }
    #expect(store.volume > 0 && store.failures.isEmpty)
    token.cancel()
  }

  @Test(arguments: [true, false])
  func aReloadWithinATransactionIsHeardWhenThatHasEnded(isTakenBack: Bool) throws {
    struct TakenBack: Error {}
    let layer = SettingsLayer.given(.defaults, ["volume": [1]])
    let store = try Store(on: .inMemory(), layers: [layer], arguments: .none)
    let changes = ChangeRecorder(store)
    do {
      try store.transaction {
        store.volume = 9
        layer.give(["volume": [7]])
        #expect(store.volume == 9 && changes.all.isEmpty)
        if isTakenBack { throw TakenBack() }
      }
    } catch is TakenBack {
    }
    // What was set hides the layer, and nothing else does.
    #expect(changes.all.map(\.reason) == [isTakenBack ? .reload : .local])
    #expect(changes.all.map(\.new) == [isTakenBack ? 7 : 9])
    store["volume"] = nil
    #expect(store.volume == 7)
  }

  @Test func aReloadWithinATransactionThatCannotWriteIsHeardWhenThatHasEnded() throws {
    let layer = SettingsLayer.given(.managed, ["volume": [1]])
    let device = try Device.temporary()
    let reader = try Device(path: device.path, access: .readOnly)
    let store = try Store(on: reader, layers: [layer], arguments: .none)
    let changes = ChangeRecorder(store)
    try store.transaction {
      layer.give(["volume": [7]])
      #expect(changes.all.isEmpty)
    }
    #expect(changes.all.map(\.new) == [7] && store.volume == 7)
  }

  @Test func aReloadWithoutObserversReadsNoEntries() throws {
    let device = try Device.temporary()
    let layers = [SettingsLayer.given(.managed, ["name": ["ada"]]), .given(.defaults)]
    func readsAll(_ body: () throws -> Void) throws -> Bool {
      try StatementTrace.of([device], body).statements.contains {
        $0.contains("FROM entry") && $0.contains("ORDER BY store, key")
      }
    }
    let opening = try readsAll {
      _ = try UserDefaultsStore(on: device, layers: layers, arguments: .none)
    }
    let store = try UserDefaultsStore(on: device, layers: layers, arguments: .none)
    let unheard = try readsAll { layers[0].give(["name": ["bob"]]) }
    let token = store.observe { _ in }
    let heard = try readsAll { layers[0].give(["name": ["eve"]]) }
    #expect([opening, unheard, heard] == [false, false, true] && store["name"] == "eve")
    token.cancel()
  }

  /// The layer is reloaded between the first member and the second one.
  @Test func anExplanationOfMembersIsOfOneMoment() throws {
    let values = ReloadingValues()
    let layer = SettingsLayer(.managed, values)
    let store = try Pairs(on: .inMemory(), layers: [layer], arguments: .none)
    values.reload.withLock {
      $0 = { layer.reload { _ in GivenValues(readings: ["p.first": [2], "p.second": [2]]) } }
    }
    let explanation = try store.$pair.explain()
    #expect(explanation.members.map { $0.inForce?.value } == [1, 1])
    #expect(store.pair == Pair(first: 2, second: 2))
  }
}

/// Gives 1, and reloads when it is asked for the first member.
private final class ReloadingValues: ProvidedValues {
  let reload = Mutex<(@Sendable () -> Void)?>(nil)

  func value(_ key: String) -> ProvidedValue? {
    if key == "p.first" { reload.withLock { $0.take() }?() }
    return ProvidedValue([1], provider: "Given", key: key, isSecret: false)
  }
}

private struct Pair: Codable, Equatable {
  var first = 0
  var second = 0
}

private final class Pairs: UserDefaultsStore, @unchecked Sendable {
  @Setting(fields: "p.") var pair = Pair()
}

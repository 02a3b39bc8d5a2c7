// SPDX-License-Identifier: Apache-2.0
//
// What reloads of given layers wait for, and what they read.

import Foundation
import Keepsake
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
    #expect(store.volume > 0 && store.errors.isEmpty)
    token.cancel()
  }

  @Test func aReloadThatNobodyHearsReadsNoEntries() throws {
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
}

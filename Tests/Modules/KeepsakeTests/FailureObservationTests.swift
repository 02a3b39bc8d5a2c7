// SPDX-License-Identifier: Apache-2.0

import Keepsake
import Synchronization
import TestSupport
import Testing

@Suite struct FailureObservationTests {
  final class Local: DeviceSettings, @unchecked Sendable {
    @Setting var text = "default"
    @Setting var small: Int8 = 1
  }

  private let store: Local

  init() throws { store = try Local(on: .inMemory(), arguments: .none) }

  @Test func anObserverHearsWhatFailedBeforeItAndThenEachFailureBeforeTheGetterReturns() {
    store["text"] = 5
    _ = store.text
    let heard = Collected<String>()
    var keys: [String] { heard.sets.flatMap { $0 } }
    let token = store.observeFailures { heard.append([$0.key]) }
    #expect(keys == ["text"])
    store["small"] = 1_000
    _ = store.small
    #expect(keys == ["text", "small"])
    store[""] = 1
    #expect(keys == ["text", "small", ""] && store.failures.map(\.key) == keys)
    _ = store.text
    #expect(keys.count == 3, "the version was reported before")
    token.cancel()
    store[""] = 2
    #expect(keys.count == 3 && store.failures.count == 4)
  }

  @Test func anObserverMayUseItsStoreAndEndItself() throws {
    let heard = Collected<String>()
    let own = Mutex<ObservationToken?>(nil)
    let token = store.observeFailures { [store] failure in
      heard.append([failure.key])
      own.withLock { $0 }?.cancel()
      // Fails too, and finds no observer any more.
      store[""] = 2
      _ = store.failures
    }
    own.withLock { $0 = token }
    store[""] = 1
    #expect(heard.sets.flatMap { $0 } == [""] && store.failures.count == 2)
  }

  @Test func whatATransactionThrowsIsNotReported() throws {
    let heard = Collected<String>()
    let token = store.observeFailures { heard.append([$0.key]) }
    #expect(throws: KeepsakeError.self) { try store.transaction { store[""] = 1 } }
    #expect(heard.sets.flatMap { $0 } == [])
    withExtendedLifetime(token) {}
  }
}

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

  /// Keys of failures in the order of their arrival.
  private final class Heard: Sendable {
    private let keys = Mutex<[String]>([])
    var all: [String] { keys.withLock { $0 } }
    func add(_ failure: SettingFailure) { keys.withLock { $0.append(failure.key) } }
  }

  private let store: Local

  init() throws { store = try Local(on: .inMemory(), arguments: .none) }

  @Test func anObserverHearsWhatFailedBeforeItAndThenEachFailureBeforeTheGetterReturns() {
    store["text"] = 5
    _ = store.text
    let heard = Heard()
    let token = store.observeFailures(heard.add)
    #expect(heard.all == ["text"])
    store["small"] = 1_000
    _ = store.small
    #expect(heard.all == ["text", "small"])
    store[""] = 1
    #expect(heard.all == ["text", "small", ""] && store.errors.map(\.key) == heard.all)
    _ = store.text
    #expect(heard.all.count == 3, "the version was reported before")
    token.cancel()
    store[""] = 2
    #expect(heard.all.count == 3 && store.errors.count == 4)
  }

  @Test func anObserverMayUseItsStoreAndEndItself() throws {
    let heard = Heard()
    let own = Mutex<ObservationToken?>(nil)
    let token = store.observeFailures { [store] failure in
      heard.add(failure)
      own.withLock { $0 }?.cancel()
      // Fails too, and finds no observer any more.
      store[""] = 2
      _ = store.errors
    }
    own.withLock { $0 = token }
    store[""] = 1
    #expect(heard.all == [""] && store.errors.count == 2)
  }

  @Test func whatATransactionThrowsIsNotReported() throws {
    let heard = Heard()
    let token = store.observeFailures(heard.add)
    #expect(throws: KeepsakeError.self) { try store.transaction { store[""] = 1 } }
    #expect(heard.all == [])
    withExtendedLifetime(token) {}
  }

  @Test func theSequenceBeginsWithWhatFailedBeforeIt() async throws {
    store[""] = 1
    var failures = store.failures.makeAsyncIterator()
    store["small"] = 1_000
    _ = store.small
    #expect(await failures.next()?.key == "")
    let second = await failures.next()
    #expect(second?.key == "small" && second?.operation == .read)
  }

  @Test func aSlowReaderOfTheSequenceGetsTheNewestHundred() async throws {
    let device = try Device.temporary()
    let reader = try Local(on: Device(path: device.path, access: .readOnly), arguments: .none)
    var failures = reader.failures.makeAsyncIterator()
    for number in 0..<103 { reader["k\(number)"] = 1 }
    for number in 3..<103 { #expect(await failures.next()?.key == "k\(number)") }
  }
}

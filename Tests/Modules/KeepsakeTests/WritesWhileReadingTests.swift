// SPDX-License-Identifier: Apache-2.0
//
// Writes by code of the application that runs while settings are read.

import Dispatch
import Keepsake
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

private final class Launches: UserDefaultsStore, @unchecked Sendable {
  /// What `identity` does while it is computed.
  static let body = Mutex<(@Sendable () -> Void)?>(nil)
  @Setting var count = 0
  @Setting(
    default: {
      Launches.body.withLock { $0 }?()
      return "made"
    }) var identity: String
}

@Suite(.serialized) struct WritesWhileReadingTests {
  @Test func aDefaultMayWriteWhereACopyOfTheStoreIsMade() throws {
    for device in [try Device.inMemory(), try Device.temporary()] {
      let store = try Launches(on: device, arguments: .none)
      let heard = Heard()
      let token = store.observe { heard.append($0) }
      store.count = 1
      #expect(store.count == 1 && store["count"] == 1)
      Launches.body.withLock { $0 = { store.count = 2 } }
      defer { Launches.body.withLock { $0 = nil } }
      let all = try store.readAllValues()
      #expect(all.values[ByteText("identity")]?.value == "made")
      #expect(store.count == 2 && store["count"] == 2 && store.failures.isEmpty)
      #expect(heard.sets.map { $0.map(\.new) } == [[1], [2]])
      #expect(heard.sets.map { $0.map(\.transaction) } == [[1], [2]])
      token.cancel()
    }
  }

  @Test func aWriteToASnapshotIsRefusedAndLosesNoNumber() throws {
    for device in [try Device.inMemory(), try Device.temporary()] {
      let store = try Launches(on: device, arguments: .none)
      let heard = Heard()
      let token = store.observe { heard.append($0) }
      store.count = 1
      try device.survey {
        store.count = 2
        #expect(throws: KeepsakeError.self) { try store.write(2, for: "count") }
        #expect(throws: KeepsakeError.self) { try store.transaction { store.count = 2 } }
        #expect(store.count == 1)
      }
      #expect(store.count == 1 && store["count"] == 1)
      #expect(store.failures.map(\.operation) == [.write])
      store.count = 3
      #expect(store.count == 3)
      #expect(heard.sets.map { $0.map(\.old) } == [[nil], [1]])
      #expect(heard.sets.map { $0.map(\.transaction) } == [[1], [2]])
      token.cancel()
    }
  }

  @Test func aWriteToASnapshotIsRefusedAlsoWhereAnotherThreadHadTheConnection() throws {
    let device = try Device.temporary()
    let store = try Launches(on: device, arguments: .none)
    store.count = 1
    let (taken, gate, other) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup()
    )
    DispatchQueue.global().async(group: other) {
      #expect(throws: Never.self) {
        try device.tables.access { _ in
          taken.signal()
          gate.wait()
        }
      }
    }
    taken.wait()
    try device.survey {
      gate.signal()
      other.wait()
      store.count = 2
      #expect(throws: KeepsakeError.self) { try store.write(2, for: "count") }
      #expect(throws: KeepsakeError.self) { try store.transaction { store.count = 2 } }
    }
    #expect(store.count == 1 && store.failures.map(\.operation) == [.write])
    store.count = 3
    #expect(store.count == 3)
  }
}

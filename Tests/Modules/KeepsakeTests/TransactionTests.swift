// SPDX-License-Identifier: Apache-2.0

import Keepsake
import Synchronization
import TestSupport
import Testing

@Suite struct TransactionTests {
  private final class Local: UserDefaultsStore, @unchecked Sendable {
    @Setting var a = 0
    @Setting var b = 0
    @Setting var count = 0
    @Setting var small: Int8 = 120
    @Setting var isOn = false
    @Setting var name: String?
  }

  private final class Shared: CloudKeyValueStore, @unchecked Sendable {
    @Setting var a = 0
  }

  private struct Refused: Error {}

  @Test func isCommittedAtOnceAndAnnouncedAsOneNetChangeSet() throws {
    let device = try Device.temporary()
    let (local, shared) = (try Local(on: device), try Shared(on: device))
    let heard = Heard()
    let observation = heard.observe(device)
    let result = try local.transaction {
      local.a = 1
      shared.a = 2
      local.b = 3
      local.a = 4
      local.b = 0
      local["b"] = nil
      #expect(heard.sets.isEmpty)
      return local.a + shared.a
    }
    #expect(result == 6)
    #expect(heard.sets.map { $0.map { "\($0.store) \($0.key)" } } == [["defaults a", "cloud a"]])
    #expect(heard.sets.first?.map(\.old) == [nil, nil])
    #expect(heard.sets.first?.map(\.new) == [4, 2])
    observation.cancel()
  }

  @Test func thatThrowsWritesAndAnnouncesNothing() throws {
    let local = try Local(on: .temporary())
    let heard = ChangeRecorder(local)
    #expect(throws: Refused.self) {
      try local.transaction {
        local.a = 1
        try local.$b.increment()
        throw Refused()
      }
    }
    #expect((local.a, local.b) == (0, 0))
    #expect(heard.sets.isEmpty)
    #expect(local.failures.isEmpty)
  }

  @Test func withinAnotherIsTakenBackAlone() throws {
    let local = try Local(on: .temporary())
    let heard = ChangeRecorder(local)
    try local.transaction {
      local.a = 1
      do {
        try local.transaction {
          local.b = 1
          try local.transaction { local.small = 1 }
          local.a = 2
          throw Refused()
        }
      } catch is Refused {}
      #expect((local.a, local.b, local.small) == (1, 0, 120))
      local.isOn = true
    }
    #expect((local.a, local.b, local.small, local.isOn) == (1, 0, 120, true))
    #expect(heard.sets.map { $0.map(\.key) } == [["a", "isOn"]])
    #expect(heard.sets.first?.first?.new == 1)
  }

  @Test func writesAfterOneThatWasTakenBackArriveLater() throws {
    let device = try Device.temporary()
    let shared = try Shared(on: device)
    let before = try device.tables.access { try ReplicaState($0) }
    try shared.transaction {
      do {
        try shared.transaction {
          shared.a = 1
          throw Refused()
        }
      } catch is Refused {}
      shared.a = 2
    }
    shared.a = 3
    let after = try device.tables.access { try ReplicaState($0) }
    #expect(after.sequenceNumber >= before.sequenceNumber + 2 && after.last > before.last)
    #expect(shared.a == 3)
  }

  @Test func readsAreOfOneMomentWhateverOthersCommit() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/device.keepsake"
    let local = try Local(on: Device(path: path))
    local.a = 1
    let reader = try Local(on: Device(path: path, access: .readOnly))
    try reader.transaction {
      #expect(reader.a == 1)
      local.a = 2
      local.b = 2
      #expect((reader.a, reader.b) == (1, 0))
      #expect(throws: KeepsakeError.self) { try reader.$a.write(5) }
    }
    #expect((reader.a, reader.b) == (2, 2))
  }

  @Test func ofAThreadHoldsOffTheOthers() async throws {
    let device = try Device.temporary()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          do {
            let local = try Local(on: device)
            for _ in 0..<25 {
              try local.$count.update { $0 += 1 }
              try local.transaction {
                local.a += 1
                local.b -= 1
                #expect(local.a + local.b == 0)
              }
            }
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    let local = try Local(on: device)
    #expect((local.a, local.b, local.count) == (200, -200, 200))
  }

  @Test func handlesWithOtherBusyTimeoutsOnOneFileJoinIt() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/device.keepsake"
    let one = try Local(on: Device(path: path))
    let two = try Local(on: Device(path: path, busyTimeout: .milliseconds(1)))
    try one.transaction {
      one.a = 1
      two.b = 2
      #expect(two.a == 1)
    }
    #expect((two.a, one.b) == (1, 2))
    #expect(two.failures.isEmpty)
  }

  @Test func incrementGivesTheNewValueAndRefusesToOverflow() throws {
    let local = try Local(on: .inMemory())
    #expect(try local.$a.increment() == 1)
    #expect(try local.$a.increment(by: -5) == -4)
    #expect(try local.$small.increment(by: 7) == 127)
    #expect(throws: ValueError.self) { try local.$small.increment() }
    #expect(local.small == 127)
  }

  @Test func anUpdateThatChangesNothingIsNoWrite() throws {
    let local = try Local(on: .inMemory())
    let recorder = ChangeRecorder(local)
    try local.$a.increment(by: 0)
    try local.$name.update { _ in }
    try local.update("name") { _ in }
    #expect(recorder.all.isEmpty)
    #expect(try local.device.entry(store: "defaults", key: "a") == nil)
  }

  @Test func anUpdateByKeySeesTheLayersAndWritesItsOwn() throws {
    let store = try UserDefaultsStore(on: .inMemory())
    store.register(defaults: ["n": 5])
    let old = try store.update("n") { value -> StoredValue? in
      defer { value = 6 }
      return value
    }
    #expect(old == 5)
    #expect(store["n"] == 6)
    try store.update("n") { $0 = nil }
    #expect(store["n"] == 5)
    #expect(throws: Refused.self) {
      try store.update("n") { value in
        value = 7
        throw Refused()
      }
    }
    #expect(store["n"] == 5)
  }

  @Test func aPowerSafeStoreWritesAndUpdatesPowerSafely() throws {
    let device = try Device.temporary()
    let store = try Shared(on: device, durability: .powerSafe)
    func level() throws -> Int64? {
      try device.tables.access { try $0.first("PRAGMA synchronous") { $0.integer(0) } }
    }
    try Local(on: device).$a.write(1)
    #expect(try level() == 1)
    for step in [
      { try store.$a.write(1) }, { try store.$a.increment() }, { store.a = 5 }, { store["a"] = 6 },
      { try store.transaction { store.a = 7 } }, { try store.$a.update { $0 += 1 } },
    ] as [() throws -> Void] {
      try Local(on: device).$b.increment()
      #expect(try level() == 1)
      try step()
      #expect(try level() == 2)
    }
    try store.transaction(durability: .crashSafe) { store.a = 9 }
    #expect(store.a == 9)
  }
}

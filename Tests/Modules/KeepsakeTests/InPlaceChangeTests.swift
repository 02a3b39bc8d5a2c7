// SPDX-License-Identifier: Apache-2.0
//
// `+=` and everything else that changes a setting where it is: it is made of the value that is
// stored, or not at all.

import Dispatch
import Keepsake
import Synchronization
import TestSupport
import Testing

private struct Refused: Error {}

private final class Local: UserDefaultsStore, @unchecked Sendable {
  @Setting var runs = 0
  @Setting var names = ["a"]
  @Setting var note: String?
}

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var names = ["a"]
}

extension SettingKey<[String]> {
  fileprivate static var words: Self { Self("words", default: []) }
}

/// Changes a value by half, waits for `gate`, and changes the other half.
private func edit(
  _ value: inout Int, _ begun: AsyncStream<Void>.Continuation, _ gate: AsyncStream<Void>,
  _ body: @Sendable () -> Void = {}
) async {
  value += 1
  begun.finish()
  for await _ in gate {}
  body()
  value += 1
}

private func change<Value>(_ value: inout Value, _ body: (inout Value) throws -> Void) rethrows {
  try body(&value)
}

@Suite struct InPlaceChangeTests {
  private let local: Local

  init() throws { local = try Local(on: .temporary(), arguments: .none) }

  @Test func whatCannotBeReadIsNotReplaced() throws {
    local["runs"] = "many"
    local.runs += 1
    #expect(local["runs"] == "many")
    let failure = try #require(local.failures.last)
    #expect(failure.operation == .write && failure.key == "runs")
    #expect((failure.cause as? SettingFailure)?.storedType == .string)
    #expect(throws: SettingFailure.self) {
      try local.transaction {
        local["other"] = 1
        local.runs += 1
      }
    }
    #expect(local["runs"] == "many" && local["other"] == nil)
    local.runs = 1
    #expect(local["runs"] == 1)
    local.runs += 1
    #expect(local["runs"] == 2)
  }

  /// An observer may wait for a thread that changes another value in place.
  @Test func observersRunWhenTheTurnOfAChangeIsOver() throws {
    let turns = local.device.shared.inPlaceChanges
    let turn = Mutex<Bool?>(nil)
    @Sendable func look() {
      let isFree = Mutex(false)
      let asked = ends {
        guard turns.begin(unless: false, waiting: .zero) else { return }
        turns.end {}
        isFree.withLock { $0 = true }
      }
      turn.withLock { $0 = asked && isFree.withLock { $0 } }
    }
    let token = local.observe { _ in look() }
    local.runs += 1
    #expect(turn.withLock { $0 } == true)
    turn.withLock { $0 = nil }
    local[.words].append("a")
    #expect(turn.withLock { $0 } == true)
    turn.withLock { $0 = nil }
    local["raw"]? = 1
    local["runs"]? = 7
    #expect(turn.withLock { $0 } == true && local.runs == 7)
    turn.withLock { $0 = nil }
    change(&local.runs) { runs in
      runs += 1
      local.note = "written meanwhile"
      // That is another write, whose observers do not wait for this one.
      #expect(turn.withLock { $0 } == false)
    }
    #expect(turn.withLock { $0 } == true && local.runs == 8)
    local["runs"] = "many"
    turn.withLock { $0 = nil }
    let failures = local.observeFailures { _ in look() }
    local.runs += 1
    #expect(turn.withLock { $0 } == true && local["runs"] == "many")
    withExtendedLifetime((token, failures)) {}
  }

  @Test func aStoreThatCannotBeReadIsNotWritten() throws {
    let file = try FaultyFile()
    let store = try UserDefaultsStore(on: file.open(), arguments: .none)
    try file.damage()
    change(&store["text"]) { $0 = nil }
    #expect(store.failures.map(\.operation) == [.write])
    try file.mend(.damagedPage)
    #expect(store["text"] == "needle")
  }

  @Test func itIsMadeOfTheDefaultTheArgumentOrWhatIsStored() throws {
    local.names.append("b")
    #expect(local["names"] == ["a", "b"])
    local.names[0] = "c"
    #expect(local.names == ["c", "b"])
    local.note = "x"
    local.note?.append("y")
    #expect(local.note == "xy")
    change(&local.note) { $0 = nil }
    #expect(local["note"] == nil)
    change(&local["raw"]) { $0 = 5 }
    #expect(local["raw"] == 5)
    let argued = try Local(
      on: local.device, arguments: LaunchArguments(["", "-runs", "41"]))
    argued.runs += 1
    #expect(local.runs == 42 && argued.runs == 41)
  }

  @Test func whatOthersWroteMeanwhileIsNotReplaced() throws {
    let other = try UserDefaultsStore(on: Device(path: local.device.path), arguments: .none)
    change(&local.runs) { value in
      other["runs"] = 9
      value += 1
    }
    #expect(local.runs == 9)
    #expect(local.failures.map(\.operation) == [.write])
    #expect(
      local.failures.first?.description
        == "defaults/runs: the setting could not be written: \(local.device.path): "
        + "another write changed the value during this change; "
        + "use update, which is one step")
    change(&local["runs"]) { value in
      other["runs"] = 10
      value = 1
    }
    #expect(local.runs == 10 && local.failures.count == 2)
  }

  /// Else it would beat what another device wrote meanwhile.
  @Test func whatChangesNothingIsNoWrite() throws {
    local.names.removeAll { $0.isEmpty }
    change(&local["raw"]) { _ in }
    #expect(throws: Refused.self) { try change(&local.runs) { _ in throw Refused() } }
    #expect(try local.keysThatAreSet == [])
    let devices = try SimulatedDevices(count: 2)
    let (here, there) = (try Shared(on: devices[0]), try Shared(on: devices[1]))
    (here.names, here[.words], here["raw"]) = (["x"], ["x"], ["x"])
    try devices.merge(0, 1)
    here.names.append("z")
    here[.words].append("z")
    here["raw"] = ["x", "z"]
    there.names.removeAll { $0.isEmpty }
    there[.words].removeAll { $0.isEmpty }
    change(&there["raw"]) { _ in }
    try devices.merge(0, 1)
    for store in [here, there] {
      #expect(store.names == ["x", "z"] && store[.words] == ["x", "z"])
      #expect(store["raw"] == ["x", "z"] && store.failures.isEmpty)
      #expect(try store.conflicts.isEmpty)
    }
  }

  @Test func anArgumentThatIsNotChangedIsNotStored() throws {
    let local = try Local(on: .inMemory(), arguments: LaunchArguments(["", "-names", "[\"b\"]"]))
    #expect(local.names == ["b"])
    local.names.removeAll { $0.isEmpty }
    #expect(try local.keysThatAreSet == [])
  }

  @Test func whatWasChangedBeforeAThrowIsStored() throws {
    #expect(throws: Refused.self) {
      try change(&local.names) { names in
        names.append("b")
        throw Refused()
      }
    }
    #expect(local.names == ["a", "b"])
  }

  @Test func ofManyThreadsEachCounts() throws {
    let (threads, rounds) = (4, 250)
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      for round in 0..<rounds {
        // Some join a transaction, which waits for nobody else's turn.
        guard round % 10 == thread else {
          local.runs += 1
          continue
        }
        #expect(throws: Never.self) { try local.$names.update { $0 = ["\(round)"] } }
        local.runs += 1
      }
    }
    #expect(local.runs == threads * rounds)
    #expect(local.failures.isEmpty)
  }

  @Test func ofManyTasksEachCounts() async throws {
    let (tasks, rounds) = (4, 250)
    await withTaskGroup { group in
      for _ in 0..<tasks {
        group.addTask { [local] in
          for _ in 0..<rounds { local.runs += 1 }
        }
      }
    }
    #expect(local.runs == tasks * rounds)
    #expect(local.failures.isEmpty)
  }

  /// The suspended task has left its thread to others.
  @MainActor @Test func aSuspendedChangeHoldsUpNothingOnItsThread() async throws {
    let (begun, beginning) = AsyncStream<Void>.makeStream()
    let (gate, opening) = AsyncStream<Void>.makeStream()
    let (local, heard) = (local, Heard())
    let token = local.observe { heard.append($0) }
    let change = Task { @MainActor in
      await edit(&local.runs, beginning, gate) { local["within"] = 1 }
    }
    for await _ in begun {}
    local.note = "beside"
    #expect(heard.sets.map { $0.map(\.key) } == [["note"]])
    local.names.append("beside")
    #expect(heard.sets.map { $0.map(\.key) } == [["note"], ["names"]])
    opening.finish()
    await change.value
    #expect(local.runs == 2 && local.names == ["a", "beside"] && local.note == "beside")
    #expect(heard.sets.map { $0.map(\.key) } == [["note"], ["names"], ["within"], ["runs"]])
    #expect(local.failures.isEmpty)
    token.cancel()
  }

  @Test func aSuspendedChangeOverwritesNothing() async throws {
    let (begun, beginning) = AsyncStream<Void>.makeStream()
    let (gate, opening) = AsyncStream<Void>.makeStream()
    let change = Task { [local] in await edit(&local.runs, beginning, gate) }
    for await _ in begun {}
    local.runs = 10
    opening.finish()
    await change.value
    #expect(local.runs == 10 && local.failures.map(\.operation) == [.write])
  }

  @Test func withinAnotherChangeItGoesOn() throws {
    change(&local.runs) { value in
      local.names.append("b")
      value += local.names.count
    }
    #expect(local.runs == 2 && local.failures.isEmpty)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A transaction is all or nothing: what a setter within it could only report, it throws.

import Keepsake
import KeepsakeTesting
import TestSupport
import Testing

private struct Refused: Error {}

private final class Local: UserDefaultsStore, @unchecked Sendable {
  @Setting var from = 1000
  @Setting(
    fromBackingStore: { (n: Int) in n },
    toBackingStore: { n in
      guard n <= 1000 else { throw Refused() }
      return n
    }) var to = 100
}

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var text = "short"
}

/// What a transaction may do that cannot throw, and fails.
private enum Form: CaseIterable {
  case tooLarge, hook, subscripted, foundation, secondStore, nested

  func fail(_ local: Local, _ shared: Shared) throws {
    switch self {
    case .tooLarge: shared.text = long
    case .hook: local.to = 1100
    case .subscripted: local[""] = 1
    case .foundation: shared.set(long, forKey: "text")
    case .secondStore: try Shared(on: shared.device).text = long
    case .nested: try shared.transaction { shared["text"] = .string(long) }
    }
  }

  func isCause(_ error: any Error) -> Bool {
    switch self {
    case .hook: (error as? SettingFailure)?.cause is Refused
    case .subscripted: (error as? KeepsakeError)?.code == .invalidKey
    default: (error as? KeepsakeError)?.code == .invalidValue
    }
  }
}

/// One byte more than a store that syncs accepts.
private let long = String(repeating: "x", count: 1 << 20 + 1)

@Suite struct WholeTransactionTests {
  private let device: Device
  private let local: Local
  private let shared: Shared
  private let log = RecordedLog()
  private let heard = Heard()

  init() throws {
    device = try Device.temporary()
    local = try Local(on: device, arguments: .none, logger: log.logger)
    shared = try Shared(on: device, logger: log.logger)
  }

  @Test(arguments: Form.allCases)
  fileprivate func whatASetterCouldOnlyReportIsThrownAndEverythingTakenBack(form: Form) throws {
    let token = local.observe { heard.append($0) }
    let error = try #require(
      throws: (any Error).self,
      performing: {
        try local.transaction {
          local.from = 0
          try form.fail(local, shared)
          local["after"] = 1
        }
      })
    #expect(form.isCause(error), "\(error)")
    #expect(local.from == 1000 && local.to == 100 && shared.text == "short")
    #expect(local["after"] == nil && heard.sets.isEmpty)
    #expect(local.failures.isEmpty && shared.failures.isEmpty && log.lines.isEmpty)
    local.from = 5
    #expect(heard.sets.map { $0.map(\.key) } == [["from"]])
    token.cancel()
  }

  @Test func aPartThatFailsIsTakenBackAloneWhereItIsCaught() throws {
    try local.transaction {
      local.from = 0
      #expect(throws: SettingFailure.self) {
        try local.$from.update { value in
          value = 7
          local.to = 1100
        }
      }
      #expect(local.from == 0)
    }
    #expect(local.from == 0 && local.to == 100 && local.failures.isEmpty)
  }

  @Test func whatCanThrowAndIsCaughtWasHandled() throws {
    try local.transaction {
      local.from = 0
      #expect(throws: SettingFailure.self) { try local.$to.write(1100) }
      #expect(throws: KeepsakeError.self) { try local.write(1, for: "") }
    }
    #expect(local.from == 0 && local.failures.isEmpty)
  }

  @Test func aGetterThatFailsEndsNothing() throws {
    local["to"] = "many"
    try local.transaction {
      #expect(local.to == 100)
      local.to = 5
    }
    #expect(local.to == 5 && local.failures.map(\.operation) == [.read])
  }

  @Test func ofSeveralFailuresTheFirstIsThrown() throws {
    let error = #expect(throws: KeepsakeError.self) {
      try local.transaction {
        local[""] = 1
        local.to = 1100
      }
    }
    #expect(error?.code == .invalidKey && local.failures.isEmpty)
  }

  @Test func whatTheBodyThrowsComesThroughAndTheFailureIsReported() throws {
    struct Other: Error {}
    #expect(throws: Other.self) {
      try local.transaction {
        local.to = 1100
        throw Other()
      }
    }
    #expect(local.failures.map(\.key) == ["to"] && log.lines.count == 1)
  }

  @Test func whatASnapshotCannotWriteItThrows() throws {
    local.from = 1
    let reader = try Local(on: Device(path: device.path, access: .readOnly), arguments: .none)
    let error = #expect(throws: KeepsakeError.self) {
      try reader.transaction { reader.from = 2 }
    }
    #expect(error?.code == .readOnly && reader.failures.isEmpty && local.from == 1)
    // If it throws something else, that failure is reported here too.
    #expect(throws: Refused.self) {
      try reader.transaction {
        reader.from = 2
        throw Refused()
      }
    }
    #expect(reader.failures.map(\.key) == ["from"])
  }

  @Test func aWriteToAnotherDeviceIsNoPartOfIt() throws {
    let other = try Local(on: .inMemory(), arguments: .none)
    try local.transaction {
      other.from = 3
      other.to = 1100
      local.from = 0
    }
    #expect(other.from == 3 && other.failures.map(\.key) == ["to"])
    #expect(local.from == 0 && local.failures.isEmpty)
  }

  @Test func aWriteOfTheLibrarysOwnSwallowsNoFailure() throws {
    try device.tables.write { _ in
      local.to = 1100
      return ((), [])
    }
    #expect(local.failures.map(\.key) == ["to"])
  }

  @Test func aConflictIsResolvedOnlyByAResolutionThatWasCommitted() throws {
    let clock = ManualClock()
    let (here, there) = (
      try Device.temporary(clock: clock.wallClock), try Device.temporary(clock: clock.wallClock)
    )
    let (ours, theirs) = (try Shared(on: here), try Shared(on: there))
    ours.text = "ours"
    clock.milliseconds += 1
    theirs.text = "theirs"
    try here.merge(with: there)
    let tries = Collected<Conflict>()
    let token = ours.resolveConflicts { conflict in
      ours["seen"] = 1
      ours.text = tries.sets.isEmpty ? long : "xxx"
      tries.append([conflict])
    }
    #expect(tries.wait { $0.count == 1 })
    while ours.failures.isEmpty {}
    #expect(ours.failures.map(\.operation) == [.resolve])
    #expect((ours.failures.first?.cause as? KeepsakeError)?.code == .invalidValue)
    #expect(try ours.conflicts.map(\.isResolved) == [false])
    #expect(ours["seen"] == nil && ours.text == "theirs")
    ours["again"] = 1
    #expect(tries.wait { $0.count == 2 })
    while try !ours.conflicts.allSatisfy(\.isResolved) {}
    #expect(ours.text == "xxx" && ours.failures.count == 1)
    token.cancel()
  }
}

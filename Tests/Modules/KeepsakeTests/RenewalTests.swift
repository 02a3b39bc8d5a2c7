// SPDX-License-Identifier: Apache-2.0
//
// What was read is kept over the commits of this process that have not changed it, and over no
// other.

import Keepsake
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

private final class Renewed: UserDefaultsStore, @unchecked Sendable {
  @Setting var count = 0
  @Setting var name = "nobody"
  @Setting(fields: "at.") var place = Place()
}

private struct Place: Codable, Equatable {
  var x = 0
  var y = 0
}

@Suite struct RenewalTests {
  @Test(arguments: [false, true])
  func aCommitOfAnotherKeyCostsAReaderNoStatement(inMemory: Bool) throws {
    let store = try Renewed(on: inMemory ? .inMemory() : .temporary())
    store.name = "ada"
    store.place.x = 1
    func read() -> [String] {
      ["\(store.name)", "\(store.place)", "\(store.string(forKey: "name") ?? "-")"]
    }
    let before = read()
    let trace = try StatementTrace.of([store.device]) {
      for _ in 0..<3 { #expect(read() == before) }
    }
    #expect(trace.statements == [])
    for number in 1...40 {
      store.count = number
      let trace = try StatementTrace.of([store.device]) { #expect(read() == before) }
      #expect(trace.statements == [], "after \(number) commits")
    }
    // Beyond what is remembered of commits.
    for number in 1...40 { store.count = -number }
    let late = try StatementTrace.of([store.device]) { #expect(read() == before) }
    #expect(!late.statements.isEmpty)
    #expect(store.count == -40)
  }

  @Test func everyWayToChangeAValueIsSeenByTheNextRead() throws {
    let store = try Renewed(on: .temporary())
    let device = store.device
    #expect(store.name == "nobody")
    func expect(_ name: String, line: Int = #line) {
      #expect(store.name == name, "line \(line)")
      #expect(store.string(forKey: "name") == name, "line \(line)")
      // So that the next change comes after a commit that is known.
      store.count += 1
      #expect(store.name == name, "line \(line)")
    }
    store.name = "setter"
    expect("setter")
    store.set("foundation", forKey: "name")
    expect("foundation")
    try store.transaction {
      store.count += 1
      store.name = "transaction"
    }
    expect("transaction")
    #expect(throws: Refusal.self) {
      try store.transaction {
        store.name = "taken back"
        #expect(store.name == "taken back")
        throw Refusal()
      }
    }
    expect("transaction")
    let imported = LocalWrite(store: "defaults", key: "name", value: "imported")
    #expect(try device.write(each: { try $0(imported) }) == 1)
    expect("imported")
    // More keys than are remembered of a commit.
    try device.write(
      (0..<50).map { LocalWrite(store: "defaults", key: "k\($0)", value: 1) } + [
        LocalWrite(store: "defaults", key: "name", value: "many")
      ])
    expect("many")
    store.register(defaults: ["name": "registered"])
    expect("many")
    try store.$name.reset()
    expect("registered")
    store.place.y = 7
    #expect(store.place == Place(x: 0, y: 7))
    store.set(8, forKey: "at.x")
    #expect(store.place == Place(x: 8, y: 7))
  }

  /// The commit names one key, and the default is of another.
  @Test(arguments: [false, true])
  func aDefaultThatIsRegisteredWithinATransactionIsSeenByTheNextRead(inMemory: Bool) throws {
    let store = try Renewed(on: inMemory ? .inMemory() : .temporary())
    #expect(store.name == "nobody" && store.string(forKey: "name") == "nobody")
    try store.transaction {
      store.count += 1
      store.register(defaults: ["name": "registered"])
    }
    #expect(store.name == "registered" && store.string(forKey: "name") == "registered")
  }
}

private struct Refusal: Error {}

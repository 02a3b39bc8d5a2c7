// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Testing

/// Values of UserDefaults that a store takes over.
@Suite struct MigrationTests {
  private let store: UserDefaultsStore

  init() throws { store = try UserDefaultsStore(on: .inMemory(), arguments: .none) }

  @Test func valuesKeepTheirTypes() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let values: [String: Any] = [
      "flag": true, "count": 1, "size": 1.5, "name": "ada", "bytes": Data([0, 255]), "date": date,
      "list": ["a", 2, false] as [Any], "table": ["inner": ["deep": 0.5]],
    ]
    #expect(try store.migrate(from: values) == [:])
    #expect(try store.read("flag") == true && store.read("count") == 1)
    #expect(try store.read("size") == 1.5 && store.read("name") == "ada")
    #expect(try store.read("bytes") == .data(Data([0, 255])) && store.read("date") == .date(date))
    #expect(try store.read("list") == ["a", 2, false])
    #expect(try store.read("table") == ["inner": ["deep": 0.5]])
  }

  @Test func aSecondMigrationDoesNothing() throws {
    try store.migrate(from: ["name": "ada"])
    try store.write(nil, for: "name")
    #expect(try store.migrate(from: ["name": "ada", "count": 1]) == [:])
    #expect(try store.read("name") == nil && store.read("count") == nil)
  }

  @Test func whatTheStoreHasStaysAndIsNamed() throws {
    try store.write("bob", for: "user")
    let left = try store.migrate(
      from: ["name": "ada", "count": 1, "done": 2], renaming: ["name": "user"], marker: "done")
    #expect(
      left == [
        "name": "the store has an entry of user already",
        "done": "this key marks the import as done",
      ])
    #expect(try store.read("user") == "bob" && store.read("count") == 1)
  }

  @Test func whatNoStoreCanHoldIsNamedAndTheRestIsTaken() throws {
    let long = String(repeating: "k", count: 1_025)
    let values: [String: Any] = [
      "url": URL(fileURLWithPath: "/"), "huge": Data(count: 17 << 20), long: 1, "name": "ada",
      "number": UInt64.max,
    ]
    let left = try store.migrate(from: values)
    #expect(Set(left.keys) == ["url", "huge", long, "number"])
    #expect(left["url"] == "a URL is no value of a property list")
    #expect(left["number"]?.contains("the largest that a store can hold") == true)
    #expect(try store.read("name") == "ada")
  }

  @Test func aMigrationThatFailsTakesNothing() throws {
    let device = try Device.inMemory()
    let store = try UserDefaultsStore(on: device, arguments: .none)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.transaction {
        try store.migrate(from: ["name": "ada"])
        throw Stop()
      }
    }
    #expect(try store.read("name") == nil)
    #expect(try store.migrate(from: ["name": "ada"]) == [:])
    #expect(try store.read("name") == "ada")
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import SettingsFixture
import TestSupport
import Testing

@Suite struct FoundationNamesTests {
  private let settings: EverySetting
  private let cloud: CloudKeyValueStore

  init() throws {
    settings = try EverySetting(on: .temporary())
    cloud = try CloudKeyValueStore(on: settings.device)
  }

  @Test func everyTypeThatCanBeStoredIsSetAndReadByName() {
    let now = Date(timeIntervalSinceReferenceDate: 812_345_678.5)
    for store in [settings, cloud] as [SettingsStore] {
      store.set("text", forKey: "string")
      store.set(Data([1, 2]), forKey: "data")
      store.set(now, forKey: "date")
      store.set(true, forKey: "bool")
      store.set(7, forKey: "int")
      store.set(UInt8(7), forKey: "uint8")
      store.set(Float(0.5), forKey: "float")
      store.set(2.5, forKey: "double")
      store.set(["a", "b"], forKey: "strings")
      store.set(["a": 1, "b": 2], forKey: "numbers")
      store.set(Theme(name: "dark"), forKey: "theme")
      #expect(store.string(forKey: "string") == "text")
      #expect(store.data(forKey: "data") == Data([1, 2]))
      #expect(store.object(forKey: "date") == .date(now))
      #expect(store.object(forKey: "bool") == true && store.bool(forKey: "bool"))
      #expect(store.object(forKey: "int") == 7 && store.object(forKey: "uint8") == 7)
      #expect(store.object(forKey: "float") == 0.5 && store.double(forKey: "double") == 2.5)
      #expect(store.array(forKey: "strings") == ["a", "b"])
      #expect(store.dictionary(forKey: "numbers") == ["a": 1, "b": 2])
      #expect(store.string(forKey: "theme") == "dark")
      #expect(store.failures.isEmpty)
    }
    #expect(settings.stringArray(forKey: "strings") == ["a", "b"])
    #expect(settings.integer(forKey: "int") == 7 && settings.float(forKey: "float") == 0.5)
    #expect(cloud.longLong(forKey: "int") == 7)
  }

  @Test func literalsOfMixedTypesAndOptionalsAreSetAsTheyRead() {
    settings.set([1, "a", [true, 0.5]], forKey: "mixed")
    settings.set(["list": [1, "a"], "flag": true], forKey: "members")
    settings.set([], forKey: "empty")
    settings.set([:], forKey: "none")
    let stored: StoredValue = ["k": 1]
    settings.set([stored, "x"], forKey: "values")
    let maybe: Int? = 3
    settings.set(maybe, forKey: "maybe")
    #expect(settings.object(forKey: "mixed") == [1, "a", [true, 0.5]])
    #expect(settings.object(forKey: "members") == ["list": [1, "a"], "flag": true])
    #expect(settings.array(forKey: "empty") == [] && settings.dictionary(forKey: "none") == [:])
    #expect(settings.array(forKey: "values") == [["k": 1], "x"])
    #expect(settings.integer(forKey: "maybe") == 3)
  }

  @Test func anArrayAndADictionaryAreOfTheTypeThatIsAskedFor() {
    settings.set(["a", "b"], forKey: "names")
    settings.set(["a": 1], forKey: "counts")
    let names: [String]? = settings.array(forKey: "names")
    let counts: [String: Int]? = settings.dictionary(forKey: "counts")
    let numbers: [Int]? = settings.array(forKey: "names")
    let none: [String]? = settings.array(forKey: "none")
    #expect(names == ["a", "b"] && counts == ["a": 1] && numbers == nil && none == nil)
    #expect(settings.array(forKey: "counts") == nil && settings.failures.isEmpty)
  }

  @Test func furtherTypesOfFoundationAreStored() {
    settings.set(CGFloat(1.5), forKey: "width")
    settings.set(0..<10, forKey: "range")
    settings.set([7: "x"], forKey: "names")
    #expect(settings["width"] == 1.5 && settings["range"] == [0, 10])
    #expect(settings["names"] == ["7": "x"])
    settings[SettingKey("width", default: CGFloat(1))] += 1
    #expect(settings.double(forKey: "width") == 2.5)
  }

  @Test func settingNilAndRemovingUncoverTheLayerBelow() {
    settings.register(defaults: ["a": 1, "b": 1, "c": 1])
    for key in ["a", "b", "c"] { settings.set(2, forKey: key) }
    settings.set(nil, forKey: "a")
    settings.set(Int?.none, forKey: "b")
    settings.removeObject(forKey: "c")
    for key in ["a", "b", "c"] { #expect(settings.integer(forKey: key) == 1) }
    settings.removeObject(forKey: "never set")
    #expect(settings.failures.isEmpty)
    cloud.set(1, forKey: "a")
    cloud.removeObject(forKey: "a")
    #expect(cloud.object(forKey: "a") == nil)
  }

  @Test func aTextIsTheURLOfAFileUnlessItHasAScheme() {
    func url(_ value: StoredValue) -> String? {
      settings.set(value, forKey: "k")
      return settings.url(forKey: "k")?.absoluteString
    }
    let home = URL.homeDirectory.absoluteString
    #expect(url("/tmp/a b") == "file:///tmp/a%20b")
    #expect(url("~/notes") == home + "notes")
    #expect(url("~/") == home)
    #expect(url("https://example.org/~/x") == "https://example.org/~/x")
    #expect(url("a note: b/c")?.hasSuffix("/a%20note%3A%20b/c") == true)
    #expect(url("relative")?.hasPrefix("file:///") == true)
    #expect(url("") == nil && url(1) == nil && url(["/tmp"]) == nil)
    #expect(url(.data(Data("/tmp".utf8))) == nil)
    settings.set(URL.homeDirectory.appending(path: "x"), forKey: "k")
    #expect(settings.string(forKey: "k") == "~/x")
  }

  @Test func whatCannotBeStoredIsReportedAndLeavesWhatWasThere() throws {
    settings.set(1, forKey: "k")
    settings.set(UInt64.max, forKey: "k")
    let relative = try #require(URL(string: "/relative"))
    settings.set(relative, forKey: "k")
    settings.set(1, forKey: "")
    #expect(settings.integer(forKey: "k") == 1)
    #expect(settings.failures.map(\.key) == ["k", "k", ""])
    #expect(settings.failures.allSatisfy { $0.operation == .write })
  }

  @Test func whatCannotBeReadIsReportedAsTheSubscriptReportsItOnceForEachStateOfTheFile() throws {
    settings.set(1, forKey: "k")
    try settings.device.shell("DROP TABLE entry")
    #expect(settings["k"] == nil)
    let expected = try #require(settings.failures.last)
    let reads: [(SettingsStore) -> Bool] = [
      { $0.object(forKey: "k") == nil }, { $0.string(forKey: "k") == nil },
      { !$0.bool(forKey: "k") }, { $0.double(forKey: "k") == 0 },
      { $0.dictionary(forKey: "k") == nil }, { $0.array(forKey: "k") == nil },
    ]
    for read in reads {
      for _ in 0..<10 { #expect(read(settings)) }
      #expect(settings.failures.count == 1)
    }
    for (number, read) in reads.enumerated() {
      try settings.device.shell("PRAGMA user_version = \(number + 100)")
      for _ in 0..<10 { #expect(read(settings)) }
      #expect(settings.failures.count == number + 2)
    }
    #expect(settings.failures.allSatisfy { $0.description == expected.description })
    for _ in 0..<10 { #expect(settings.dictionaryRepresentation() == [:]) }
    #expect(settings.failures.last?.operation == .readAll && settings.failures.last?.key == "")
    #expect(settings.failures.count == reads.count + 2)
  }

  @Test func synchronizeTellsWhetherTheDeviceDid() throws {
    settings.set(1, forKey: "k")
    #expect(settings.synchronize() && cloud.synchronize())
    #expect(try UserDefaultsStore(on: .inMemory()).synchronize())
    let path = settings.device.path
    #expect(try UserDefaultsStore(on: Device(path: path, access: .readOnly)).synchronize())
    #expect(try Command.run(Command.find("mv"), [path, path + ".away"]).code == 0)
    #expect(!settings.synchronize())
    #expect(settings.failures.map(\.operation) == [.synchronize])
    #expect(settings.failures.map(\.key) == [""])
  }

  @Test func aFloatIsTheTextOfItsDigits() {
    for number: Float in [12.34, 0.1, -1.5, 3.4e38, .leastNonzeroMagnitude, 100] {
      settings.set(number, forKey: "float")
      #expect(settings.float(forKey: "float") == number && settings.float == number)
      #expect(settings.string(forKey: "float").flatMap(Double.init) == Double("\(number)"))
    }
    settings.float = 12.34
    #expect(settings.string(forKey: "float") == "12.34" && settings["float"] == 12.34)
    settings["float"] = .real(Double(12.34 as Float))
    #expect(settings.float == 12.34, "as earlier versions stored it")
  }
}

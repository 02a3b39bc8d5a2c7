// SPDX-License-Identifier: Apache-2.0
//
// Settings by transformers and by types that have no class in SQLite.

import Foundation
import Keepsake
import SettingsFixture
import TestSupport
import Testing

@Suite struct TransformedSettingTests {
  private let settings: EverySetting
  init() throws { settings = try EverySetting(on: .temporary()) }

  @Test func whatIsStoredReadsWellInTheShell() throws {
    settings.price = try #require(Decimal(string: "19.90"))
    settings.timeout = .milliseconds(1500)
    settings.tags = ["b", "a"]
    settings.palette = [Color(255, 0, 0), Color(0, 0, 255)]
    settings.themes = ["night": [Color(0, 0, 0), Color(1, 1, 1)]]
    settings.id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    settings.window = Window(
      title: "Notes", opened: Date(timeIntervalSinceReferenceDate: 7), tabs: [10, 2])
    #expect(settings.errors.isEmpty)
    let rows = try settings.device.shell("SELECT key, value FROM entry ORDER BY key")
    #expect(
      rows == """
        id|E621E1F8-C36C-495A-93FC-0C247A3E6E5F
        palette|["#ff0000","#0000ff"]
        price|19.9
        tags|["a","b"]
        themes|{"night":["#000000","#010101"]}
        timeout|1.5
        window|{"opened":{"$date":7.0},"tabs":[2,10],"title":"Notes"}

        """)
    let title = "SELECT value ->> '$.title' FROM entry WHERE key = 'window'"
    #expect(try settings.device.shell(title) == "Notes\n")
  }

  @Test func whatTheShellWritesIsReadThroughTheHooks() throws {
    settings.palette = [Color(1, 1, 1)]
    settings.timeout = .seconds(1)
    settings.window = Window(title: "a", opened: .distantPast, tabs: [])
    #expect(settings.palette == [Color(1, 1, 1)] && settings.timeout == .seconds(1))
    try settings.device.shell(
      """
      UPDATE entry SET value = '["#0a0b0c"]' WHERE key = 'palette';
      UPDATE entry SET value = '0.25' WHERE key = 'timeout';
      UPDATE entry SET value = json_set(value, '$.title', 'b') WHERE key = 'window';
      """)
    #expect(settings.palette == [Color(10, 11, 12)])
    #expect(settings.timeout == .milliseconds(250))
    #expect(settings.window.title == "b")
    #expect(settings.errors.isEmpty)
  }

  @Test func anEqualSetWritesNothing() throws {
    let heard = ChangeRecorder(settings)
    settings.tags = ["a", "b", "c", "d", "e"]
    settings.tags = Set(["e", "d", "c", "b", "a"])
    #expect(heard.sets.count == 1)
  }

  @Test func nilRemovesTheKeyWhateverTheTransformer() throws {
    settings.maybeWindow = Window(title: "", opened: .distantPast, tabs: [])
    settings.maybePalette = []
    settings.maybeAccent = Color(1, 2, 3)
    settings.maybeConstantPalette.wrappedValue = []
    let keys = ["maybeWindow", "maybePalette", "maybeAccent", "maybeConstantPalette"]
    for key in keys { #expect(settings[key] != nil) }
    settings.maybeWindow = nil
    settings.maybePalette = nil
    settings.maybeAccent = nil
    settings.maybeConstantPalette.wrappedValue = nil
    for key in keys { #expect(settings[key] == nil) }
    #expect(settings.maybeWindow == nil && settings.maybePalette == nil)
    #expect(settings.errors.isEmpty)
  }

  @Test func nilRemovesTheKeyAlsoWhereTheTransformerIsOneOfTheOptional() throws {
    final class Declared: UserDefaultsStore, @unchecked Sendable {
      @Setting(by: .codable) var window: Window? = nil
      let constant = Setting<Window?>(wrappedValue: nil, by: .codable)
    }
    let settings = try Declared(on: .inMemory())
    let window = Window(title: "a", opened: .distantPast, tabs: [])
    settings.window = window
    settings.constant.wrappedValue = window
    #expect(settings.window == window && settings.constant.wrappedValue == window)
    settings.window = nil
    settings.constant.wrappedValue = nil
    #expect(settings["window"] == nil && settings["constant"] == nil)
    #expect(settings.window == nil && settings.constant.wrappedValue == nil)
    #expect(settings.errors.isEmpty)
  }

  @Test func aValueThatDoesNotDecodeIsReportedWithItsKeyAndTypeAndTheOthersStillRead() throws {
    settings.integer = 7
    settings["palette"] = ["#000000", "secret"]
    settings["window"] = 5
    settings["price"] = 1e200
    let before = try settings.device.shell("SELECT key, quote(value) FROM entry ORDER BY key")
    for _ in 0..<3 {
      #expect(settings.palette == [] && settings.window.title == "" && settings.price == 1)
      #expect(settings.integer == 7)
    }
    #expect(settings.errors.map(\.key) == ["palette", "window", "price"])
    #expect(settings.errors.map(\.storedType) == [.array, .integer, .real])
    #expect(settings.errors.allSatisfy { $0.operation == .read && $0.cause is ValueError })
    let first = try #require(settings.errors.first)
    let start =
      "defaults/palette: the setting could not be read from the array that is stored: at [1]:"
    #expect(first.description.hasPrefix(start))
    #expect(!first.description.contains("secret"))
    #expect(
      try settings.device.shell("SELECT key, quote(value) FROM entry ORDER BY key") == before)
  }

  @Test func theThrowingFormsNameTheKeyAndTheStoredType() throws {
    settings["window"] = "text"
    let attempts: [() throws -> Void] = [
      { _ = try settings.$window.read() }, { try settings.$window.update { $0.title = "new" } },
      {
        _ = try settings.$window.compareAndSet(settings.$window.defaultValue, to: settings.window)
      },
    ]
    for attempt in attempts {
      let failure = #expect(throws: SettingFailure.self, performing: attempt)
      #expect(failure?.key == "window" && failure?.store == "defaults")
      #expect(failure?.storedType == .string && failure?.operation == .read)
    }
    #expect(settings["window"] == "text")
  }

  @Test func aHookThatRefusesToStoreLeavesTheValueAndIsReportedOrThrown() throws {
    struct Refused: Error {}
    final class Picky: UserDefaultsStore, @unchecked Sendable {
      @Setting(
        by: Transformer<Int>(
          fromBackingStore: { (number: Int) in number },
          toBackingStore: { number -> Int in
            guard number < 10 else { throw Refused() }
            return number
          }
        ).array()) var small = [1]
    }
    let settings = try Picky(on: .inMemory())
    settings.small = [2, 3]
    settings.small = [4, 50]
    #expect(settings.small == [2, 3])
    let reported = try #require(settings.errors.first)
    #expect(settings.errors.count == 1 && reported.operation == .write && reported.key == "small")
    #expect(reported.cause is Refused && reported.storedType == nil)
    let thrown = #expect(throws: SettingFailure.self) { try settings.$small.write([50]) }
    #expect(thrown?.cause is Refused && thrown?.key == "small")
    #expect(throws: SettingFailure.self) { try settings.$small.update { $0.append(50) } }
    #expect(settings.small == [2, 3])
  }

  @Test func aReadThatFailsInALoopIsReportedOnceUntilTheFileChanges() throws {
    settings.integer = 3
    try settings.device.shell("ALTER TABLE entry RENAME TO away")
    for _ in 0..<50 { #expect(settings.integer == 1 && settings.string == "guest") }
    #expect(settings.errors.map(\.key) == ["integer", "string"])
    #expect(settings.errors.allSatisfy { $0.storedType == nil })
    try settings.device.shell("PRAGMA user_version = 77")
    for _ in 0..<50 { #expect(settings.integer == 1) }
    #expect(settings.errors.map(\.key) == ["integer", "string", "integer"])
    try settings.device.shell("ALTER TABLE away RENAME TO entry")
    #expect(settings.integer == 3)
  }
}

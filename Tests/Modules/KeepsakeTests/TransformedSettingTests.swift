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
    #expect(settings.failures.isEmpty)
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
    #expect(settings.failures.isEmpty)
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
    #expect(settings.failures.isEmpty)
  }

  @Test func theThrowingFormsNameTheKeyAndTheStoredType() throws {
    settings["window"] = "text"
    let attempts: [() throws -> Void] = [
      { _ = try settings.$window.read() }, { try settings.$window.update { $0.title = "new" } },
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
    let reported = try #require(settings.failures.first)
    #expect(settings.failures.count == 1 && reported.operation == .write && reported.key == "small")
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
    #expect(settings.failures.map(\.key) == ["integer", "string"])
    #expect(settings.failures.allSatisfy { $0.storedType == nil })
    try settings.device.shell("PRAGMA user_version = 77")
    for _ in 0..<50 { #expect(settings.integer == 1) }
    #expect(settings.failures.map(\.key) == ["integer", "string", "integer"])
    try settings.device.shell("ALTER TABLE away RENAME TO entry")
    #expect(settings.integer == 3)
  }
}

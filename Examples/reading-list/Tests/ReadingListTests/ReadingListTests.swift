// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeTesting
import Testing

@testable import reading_list

@Suite struct ReadingListTests {
  @Test func aFinishedBookIsTheLastOfTheUnreadOnes() throws {
    let library = try Library(on: .inMemory())
    try library.add("Emma")
    try library.add("Middlemarch")
    #expect(try library.finish("Emma"))
    #expect(library.books(by: .unread).map(\.title) == ["Middlemarch", "Emma"])
  }

  @Test func booksOfTwoDevicesComeTogether() throws {
    let devices = try SimulatedDevices(count: 2, seed: 42)
    let libraries = try devices.map { try Library(on: $0) }
    try libraries[0].add("Emma")
    try libraries[1].add("Middlemarch")
    try devices.settle()
    #expect(libraries[0].books(by: .title).map(\.title) == ["Emma", "Middlemarch"])
    #expect(libraries[1].books(by: .title) == libraries[0].books(by: .title))
  }

  @Test func theClassAndTheBundleAgree() throws {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let bundle = try SettingsBundle(at: package.appendingPathComponent("Settings.bundle"))
    let settings = try AppSettings(on: .inMemory(), arguments: .none)
    #expect(settings.differences(from: bundle) == [])
  }

  @Test func aBookThatCannotBeStoredIsAnErrorAndNotOnTheList() throws {
    let library = try Library(on: .inMemory())
    #expect(throws: KeepsakeError.self) {
      try library.device.whileWritesFail { try library.add("Emma") }
    }
    #expect(library.books(by: .title).isEmpty)
  }
}

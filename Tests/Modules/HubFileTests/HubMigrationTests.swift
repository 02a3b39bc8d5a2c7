// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHubMigrations
import TestSupport
import Testing

@Suite struct HubMigrationTests {
  private static let folder = Checkout.path("Migrations/Hub")

  private static var files: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".sql") }.sorted()
    }
  }

  @Test func everyFileIsEmbeddedInOrder() throws {
    let texts = try Self.files.map {
      try String(contentsOfFile: "\(Self.folder)/\($0)", encoding: .utf8)
    }
    #expect(texts == HubMigrations.all)
    for (index, text) in texts.enumerated() {
      #expect(text.contains("PRAGMA user_version = \(index + 1);"))
    }
  }

  @Test func everyKeyBeginsWithTheAccount() {
    let keys = HubMigrations.all.joined().matches(of: /PRIMARY KEY \((\w+)/).map(\.1)
    #expect(keys.count >= 4 && Set(keys) == ["account"])
  }
}

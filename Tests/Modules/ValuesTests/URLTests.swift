// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

@Suite struct URLTests {
  private static let home = URL.homeDirectory.path(percentEncoded: false)
    .replacing(/\/$/, with: "")

  @Test(arguments: [
    (URL(filePath: home + "/a b/é.txt"), "~/a b/é.txt"),
    (URL(filePath: home, directoryHint: .notDirectory), "~"),
    (URL(filePath: home, directoryHint: .isDirectory), "~/"),
    (URL(filePath: home + "/folder/", directoryHint: .isDirectory), "~/folder/"),
    (URL(filePath: home + "-of-another/x"), home + "-of-another/x"),
    (URL(filePath: "/tmp/a:b?c#d"), "/tmp/a:b?c#d"), (URL(filePath: "/~/x"), "/~/x"),
  ])
  func aFileIsStoredAsItsPathWithATildeForHome(url: URL, text: String) throws {
    #expect(try url.toBackingStore() == .string(text))
    #expect(try URL.fromBackingStore(.string(text)).absoluteString == url.absoluteString)
  }

  @Test(arguments: [
    "https://user@example.org:8443/a%20b?q=1&r=%C3%A9#f", "mailto:ada@example.org",
    "custom+scheme:opaque", "file://server/share/x", "file:///a?query#fragment", "file:///%FF",
    "relative/path", "#fragment", "?query", "data:,~/x",
  ])
  func whatIsNotAPathIsStoredAsItIsWritten(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(try url.toBackingStore() == .string(text))
    #expect(try URL.fromBackingStore(.string(text)).absoluteString == text)
  }

  @Test func aFileURLThatIsWrittenAsOneIsReadAsOne() throws {
    let url = try URL.fromBackingStore("file:///tmp/%C3%A9%20x/")
    #expect(url == URL(filePath: "/tmp/é x/", directoryHint: .isDirectory))
  }

  @Test(arguments: ["/a/b", "//host/path", "~/a", "~"])
  func aRelativeURLThatWouldReadAsAPathIsRefused(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(throws: ValueError.self) { try url.toBackingStore() }
  }

  @Test(arguments: ["", "a b: c"])
  func whatIsNoURLIsRefused(text: String) {
    #expect(throws: ValueError.self) { try URL.fromBackingStore(.string(text)) }
  }

  @Test(arguments: Seeds.list(20))
  func anyURLThatCanBeStoredIsReadAsItself(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let parts = [
      "~", "/", "a", "é", "e\u{301}", " ", "%", ":", "?", "#", ".", "..", "\0", Self.home,
    ]
    let starts = ["", "file://", "https://h", "file://h", Self.home, Self.home + "/"]
    var stored = 0
    for _ in 0..<200 {
      let count = Int.random(in: 0...6, using: &generator)
      let rest = (0..<count).compactMap { _ in parts.randomElement(using: &generator) }.joined()
      let text = (starts.randomElement(using: &generator) ?? "") + rest
      let made = generator.chance(50) ? URL(string: text) : URL(fileURLWithPath: text)
      guard let url = made,
        case .success(let value) = Result(catching: { try url.toBackingStore() })
      else { continue }
      stored += 1
      let read = try URL.fromBackingStore(value)
      #expect(read.absoluteString == url.absoluteString, "seed \(seed): \(text.debugDescription)")
    }
    #expect(stored > 50, "seed \(seed)")
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The tutorial quotes `Examples/reading-list`, whose own tests are built and run with ours.
@Suite struct TutorialTests {
  private static let article = "Sources/Keepsake/Keepsake.docc/Tutorial.md"
  private static let example = "Examples/reading-list"

  /// The example's files as the tutorial quotes them: without a licence, and the package with an
  /// address instead of this folder.
  private static func sources() throws -> [(path: String, text: String)] {
    let paths =
      ["\(example)/Package.swift", "\(example)/Settings.bundle/Root.plist"]
      + (try Project.files(in: ["\(example)/Sources", "\(example)/Tests"], ".swift"))
    return try paths.map { path in
      let text = try Project.text(path)
        .replacing("// SPDX-License-Identifier: Apache-2.0\n", with: "")
        .replacing(
          #".package(name: "Keepsake", path: "../..", traits: [])"#,
          with: #".package(url: "https://example.org/keepsake", from: "0.1.0", traits: [])"#)
      return (path, text)
    }
  }

  private static func quoted() throws -> [String] {
    try ["swift", "xml"].flatMap { try Project.blocks($0, of: article) }
  }

  /// So a step adds lines, and never changes those of an earlier one.
  @Test func theLinesOfEveryBlockAreInOneFileInTheirOrder() throws {
    let sources = try Self.sources()
    for block in try Self.quoted() {
      let isQuote = sources.contains { source in
        var rest = source.text.split(separator: "\n")[...]
        return block.split(separator: "\n").allSatisfy { line in
          rest = rest.drop { $0 != line }
          return rest.popFirst() != nil
        }
      }
      #expect(isQuote, "\(block)")
    }
  }

  @Test func itsStepsMakeTheWholeExample() throws {
    let lines = Set(try Self.quoted().flatMap { $0.split(separator: "\n") })
    for source in try Self.sources() {
      for line in source.text.split(separator: "\n") {
        #expect(lines.contains(line), "\(source.path): \(line)")
      }
    }
  }

  @Test func everySessionPrintsWhatItSays() throws {
    let sessions = try Project.blocks("console", of: Self.article)
    #expect(sessions.count >= 8)
    let terminal = try Terminal(bundle: "\(Self.example)/Settings.bundle")
    defer { terminal.close() }
    for session in sessions { try terminal.play(session) }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// That what contributors are told is so.

import Foundation
import TestSupport
import Testing

@Suite struct PolicyTests {
  @Test func theNewestChangesAreOfTheVersionThatKvsyncPrints() throws {
    let version = try #require(Project.text("CHANGELOG.md").firstMatch(of: /\n## ([\d.]+)/)).1
    #expect(
      try Command.run(Command.kvsync.get(), ["--version"]) == Ending(stdout: "\(version)\n"))
    for text in try ["README.md", "Sources/Keepsake/Keepsake.docc/Tutorial.md"].map(Project.text) {
      #expect(text.contains("from: \"\(version)\""))
    }
  }

  @Test func theMapOfTheCodeNamesEveryFolderAndModule() throws {
    let text = try Project.text("CONTRIBUTING.md")
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Project.root.appendingPathComponent("Sources").path)
    for folder in folders { #expect(text.contains("`Sources/\(folder)`"), "\(folder)") }
    let package = try Project.text("Package.swift")
    for module in text.matches(of: /^\| `[A-Za-z\/]+` \| `(\w+)`/.anchorsMatchLineEndings()) {
      #expect(package.contains("name: \"\(module.1)\""), "\(module.1)")
    }
  }

  @Test func everyScriptIsExplained() throws {
    let text = try Project.text("CONTRIBUTING.md")
    let scripts = try FileManager.default.contentsOfDirectory(
      atPath: Project.root.appendingPathComponent("Scripts").path)
    for script in scripts { #expect(text.contains("`Scripts/\(script)"), "\(script)") }
  }
}

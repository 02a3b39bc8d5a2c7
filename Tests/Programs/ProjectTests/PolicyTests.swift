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

  @Test func everyScriptIsExplained() throws {
    let text = try Project.text("CONTRIBUTING.md")
    let scripts = try FileManager.default.contentsOfDirectory(
      atPath: Project.root.appendingPathComponent("Scripts").path)
    for script in scripts { #expect(text.contains("`Scripts/\(script)"), "\(script)") }
  }

  @Test func everyLineOfTheSecurityPolicyNamesATestThatIsThere() throws {
    let tests = try Project.files(in: ["Tests"], ".swift").map(Project.text).joined()
    var count = 0
    for line in try Project.text("SECURITY.md").split(separator: "\n") where line.hasPrefix("| ") {
      guard !line.hasSuffix("| test |"), let cell = line.split(separator: "|").last
      else { continue }
      for name in cell.matches(of: /`(\w+)`/) {
        #expect(tests.contains("func \(name.1)("), "\(name.1)")
        count += 1
      }
    }
    #expect(count > 30)
  }

  @Test func noOtherVariableOfTheEnvironmentIsRead() throws {
    let policy = try Project.text("SECURITY.md")
    var names: Set<Substring> = []
    for file in try Project.files(in: ["Sources"], ".swift") {
      let text = try Project.text(file)
      #expect(!text.contains("getenv"), "\(file)")
      names.formUnion(text.matches(of: /environment\["(\w+)"/).map(\.1))
      names.formUnion(text.matches(of: /"(KEEPSAKE_\w+)"/).map(\.1))
    }
    #expect(
      names == [
        "HOME", "NO_COLOR", "TERM", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "KEEPSAKE_HUB_SECRET",
        "KEEPSAKE_HUB_TOKEN",
      ])
    for name in names { #expect(policy.contains("`\(name)`"), "\(name)") }
  }
}

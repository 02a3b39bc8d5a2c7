// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct ReadmeTests {
  private static func blocks(
    _ language: String, of file: String = "README.md"
  ) throws -> [String] {
    let parts = try Project.text(file).components(separatedBy: "```\(language)\n")
    return parts.dropFirst().map { $0.components(separatedBy: "```")[0] }
  }

  @Test func theProgramIsTheExamplesToTheLetter() throws {
    let source = try Project.text("Examples/two-devices/Sources/two-devices/main.swift")
    let program = try #require(try Self.blocks("swift").first)
    #expect(source == "// SPDX-License-Identifier: Apache-2.0\n\n" + program)
  }

  @Test func theProgramIsShownAtWork() throws {
    #expect(try Self.blocks("console").first?.contains("$ two-devices\n") == true)
  }

  @Test func everyTerminalSessionPrintsWhatItSays() throws {
    let articles = try Project.files(in: ["Sources"], ".md")
    let sessions = try articles.flatMap { try Self.blocks("console", of: $0) }
    for session in try Self.blocks("console") + sessions {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("keepsake-readme-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
      try FileManager.default.copyItem(
        at: Project.root.appendingPathComponent("Examples/two-devices/Settings.bundle"),
        to: folder.appendingPathComponent("Settings.bundle"))
      try play(session, in: folder.path)
    }
  }

  /// Runs each line after `$ ` and compares what it prints with the lines up to the next.
  private func play(_ session: String, in folder: String) throws {
    let bin = URL(fileURLWithPath: try Command.kvsync.get()).deletingLastPathComponent().path
    let steps = ("\n" + session).components(separatedBy: "\n$ ").dropFirst()
    #expect(!steps.isEmpty)
    for step in steps {
      let lines = step.split(separator: "\n", omittingEmptySubsequences: true)
      let command = try #require(lines.first)
        .replacingOccurrences(of: "two-devices", with: "readme-program")
      let result = try Command.run(
        Command.find("sh"), ["-c", "PATH='\(bin)':$PATH; \(command)"], in: folder)
      #expect(result.code == 0, "\(command): \(result.stderr)")
      #expect(result.stdout == lines.dropFirst().map { $0 + "\n" }.joined(), "\(command)")
    }
  }

  @Test func whatItShowsAndLinksToIsThere() throws {
    let readme = try Project.text("README.md")
    let shown = try #require(try Self.blocks("", of: "README.md").first { $0.hasPrefix("\"vol") })
    let article = try Self.blocks("", of: "Sources/Keepsake/Keepsake.docc/Layers.md")
    #expect(article.contains(shown))
    let others = try ["CONTRIBUTING.md", "CHANGELOG.md"].map(Project.text).joined()
    for link in (readme + others).matches(of: /\](?:\(|: )([^#)\s]+)/)
    where !link.1.hasPrefix("https://") {
      let path = Project.root.appendingPathComponent(String(link.1)).path
      #expect(FileManager.default.fileExists(atPath: path), "\(link.1)")
    }
  }

  @Test func aProgramOnTheMainActorUsesSettings() throws {
    let ending = try Command.run(Command.built("main-actor-program").get(), [])
    #expect(ending == Ending(stdout: "guest listens at 5\nada listens at 7\n"))
    // Arguments stand over what the program sets.
    let told = try Command.run(
      Command.built("main-actor-program").get(), ["-username", "grace", "-volume", "-1"])
    #expect(told == Ending(stdout: "grace listens at -1\ngrace listens at -1\n"))
    // The example's own package isolates it in the same way.
    let isolation = ".defaultIsolation(MainActor.self)"
    #expect(try Project.text("Package.swift").contains(isolation))
    #expect(try Project.text("Examples/main-actor/Package.swift").contains(isolation))
  }

  @Test func aNewcomerNeedsTwoScripts() throws {
    let readme = try Project.text("README.md")
    for script in ["Scripts/demo", "Scripts/test"] {
      #expect(readme.split(separator: "\n").prefix(60).joined().contains(script))
      let path = Project.root.appendingPathComponent(script).path
      #expect(FileManager.default.isExecutableFile(atPath: path))
    }
    #expect(try Project.text(".ci/run").contains("Scripts/test"))
  }
}

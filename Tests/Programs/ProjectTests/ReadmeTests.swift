// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import TestSupport
import Testing

@Suite struct ReadmeTests {
  @Test func everySwiftBlockIsCompiled() throws {
    let blocks = try Project.blocks("swift", of: "README.md")
    let programs = try ["hello", "two-devices"].map { name in
      try Project.text("Examples/\(name)/main.swift")
    }
    #expect(programs == blocks.prefix(2).map { "// SPDX-License-Identifier: Apache-2.0\n\n" + $0 })
    // Those of a manifest have a test of their own.
    #expect(blocks.dropFirst(2).allSatisfy { $0.hasPrefix(".p") } && blocks.count == 4)
  }

  @Test func theFirstProgramCountsItsLaunches() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/org.example.hello/device.keepsake"
    for launch in 1...3 {
      let hello = try Command.built("hello").get()
      let ending = try Command.run(
        Command.find("env"), ["XDG_DATA_HOME=\(folder.path)", hello])
      #expect(ending == Ending(stdout: "Launch \(launch), kept in \(file)\n"))
    }
  }

  @Test func theLinesForAManifestAreUnderstood() throws {
    let lines = try Project.blocks("swift", of: "README.md").filter { $0.hasPrefix(".p") }
    #expect(lines.count == 2)
    let folder = try TemporaryFolder()
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription
      let package = Package(
        name: "newcomer", platforms: [.macOS(.v15)],
        dependencies: [\(lines[0])],
        targets: [.executableTarget(name: "newcomer", dependencies: [\(lines[1])])])
      """
    try Data(manifest.utf8).write(to: URL(fileURLWithPath: folder.path + "/Package.swift"))
    let ending = try Command.run(
      Command.find("swift"), ["package", "dump-package"], in: folder.path)
    #expect(ending.code == 0, "\(ending.stderr)")
    #expect(ending.stdout.contains("example.org"))
  }

  @Test func theProgramIsShownAtWork() throws {
    let session = try #require(try Project.blocks("console", of: "README.md").first)
    #expect(session.contains("$ two-devices\n"))
  }

  @Test func everyTerminalSessionPrintsWhatItSays() throws {
    // The tutorial's go on from each other, see `TutorialTests`.
    let articles = try Project.files(in: ["Sources"], ".md")
      .filter { !$0.hasSuffix("/Tutorial.md") }
    for file in ["README.md"] + articles {
      for session in try Project.blocks("console", of: file) {
        let terminal = try Terminal(bundle: "Examples/two-devices/Settings.bundle")
        defer { terminal.close() }
        try terminal.play(session)
      }
    }
  }

  @Test func aProgramOnTheMainActorUsesSettings() throws {
    let ending = try Command.run(Command.built("main-actor").get(), [])
    #expect(ending == Ending(stdout: "guest listens at 5\nada listens at 7\n"))
    // Arguments stand over what the program sets.
    let told = try Command.run(
      Command.built("main-actor").get(), ["-username", "grace", "-volume", "-1"])
    #expect(told == Ending(stdout: "grace listens at -1\ngrace listens at -1\n"))
    #expect(try Project.text("Package.swift").contains(".defaultIsolation(MainActor.self)"))
  }

  @Test func whatTheReadmeSaysOfUserDefaultsIsWhatItsProgramFinds() throws {
    let ending = try Command.run(Command.built("beside-userdefaults").get(), [])
    #expect(ending.code == 0 && ending.stderr == "")
    let rows = ending.stdout.split(separator: "\n").map(String.init)
    #expect(rows.count == 5)
    let readme = try Project.text("README.md")
    for row in rows { #expect(readme.contains(row + "\n"), "\(row)") }
  }

  @Test func aNewcomerNeedsTwoScripts() throws {
    let readme = try Project.text("README.md")
    for script in ["Scripts/demo", "Scripts/test"] {
      #expect(readme.split(separator: "\n").prefix(60).joined().contains(script))
      let path = Project.root.appendingPathComponent(script).path
      #expect(FileManager.default.isExecutableFile(atPath: path))
    }
    let ci = try Project.text(".ci/run")
    for script in ["Scripts/demo", "Scripts/docs", "Scripts/test"] { #expect(ci.contains(script)) }
  }
}

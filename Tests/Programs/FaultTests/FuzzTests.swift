// SPDX-License-Identifier: Apache-2.0
//
// A part of `Scripts/fuzz`, without libFuzzer.

import Foundation
import TestSupport
import Testing

@Suite struct FuzzTests {
  private static let corpus = Checkout.root.appendingPathComponent("Tests/Data/Corpus")

  private func files(of target: String) throws -> [String] {
    let folder = Self.corpus.appendingPathComponent(target)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .map { folder.appendingPathComponent($0).path }
  }

  private func fuzz(_ words: [String], seconds: Int = 60) throws -> Ending {
    try Command.runProbe(["fuzz"] + words, patience: seconds)
  }

  @Test(arguments: ["plist", "json", "lines", "wire"])
  func noReaderContradictsItselfWhateverItReads(_ target: String) throws {
    let files = try files(of: target)
    #expect(files.count > 5)
    let mutants = Seeds.rounds(3000, debug: 600)
    let ending = try fuzz(
      ["inputs", target] + files + ["--mutants", "\(mutants)", "--seed", "1"])
    #expect(ending.code == 0, "\(ending)")
    #expect(ending.stderr.contains("fuzz: \(target): \(files.count) files, and all went well\n"))
    #expect(ending.stderr.hasSuffix("fuzz: \(target): \(mutants) mutants, and all went well\n"))
  }

  @Test(AddressSpace.isPlain) func noCommandIsHarmedByADeviceFileThatNoDeviceWrote() throws {
    let mutants = Seeds.rounds(60, debug: 10)
    let ending = try fuzz(["files", "--seed", "1", "--mutants", "\(mutants)"], seconds: 300)
    #expect(ending.code == 0, "\(ending)")
    #expect(ending.stderr.hasSuffix("fuzz: \(mutants) device files, and all went well\n"))
  }

  /// `Scripts/fuzz` takes all of them.
  @Test(AddressSpace.isPlain) func everyCommandTakesTheFilesOfTheCorpus() throws {
    let all = try files(of: "files")
    let some = Seeds.rounds(all, debug: all.filter { $0.hasSuffix("/numbers-used-up.sql") })
    #expect(all.count > 15 && !some.isEmpty)
    let ending = try fuzz(["files"] + some, seconds: 300)
    #expect(ending == Ending(stderr: "fuzz: \(some.count) files, and all went well\n"))
  }

  @Test func theSameSeedGivesTheSameMutant() throws {
    let words = ["files", "--seed", "7", "--show"]
    let first = try fuzz(words)
    #expect(first.code == 0 && first.stdout.count > 5, "\(first)")
    #expect(try fuzz(words) == first)
    #expect(try fuzz(["files", "--seed", "8", "--show"]).stdout != first.stdout)
  }

  @Test(arguments: [
    (["abc"], "unknown word: abc"), (["0"], "unknown word: 0"),
    (["--seconds"], "--seconds needs a whole number above 0"),
    (["--seconds", "-1"], "--seconds needs a whole number above 0"),
    (["--seed", "x"], "--seed needs a whole number above 0"),
  ])
  func theScriptRefusesWhatItDoesNotKnow(words: [String], complaint: String) throws {
    let script = Self.corpus.appendingPathComponent("../../../Scripts/fuzz").standardized.path
    #expect(
      try Command.run(script, words)
        == Ending(stderr: "fuzz: \(complaint); see Scripts/fuzz --help\n", code: 64))
  }
}

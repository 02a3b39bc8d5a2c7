// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct ReplayTests {
  /// `KEEPSAKE_MODEL` in the environment replaces these, as `--seed 7 --histories 1`. With
  /// `--files` the devices are not in memory.
  private static let all = [
    "", "--pages 2", "--forget", "--future", "--copies --noticed 1",
    "--copies --noticed 1 --forget --future --pages 2", "--copies --noticed .5",
    "--hub only", "--hub too", "--hub two", "--hub too --pages 2", "--hub only --forget",
    "--hub too --future", "--hub too --copies --noticed 1", "--hub only --large",
    "--hub too --copies --noticed 1 --forget --future --pages 2",
    "--hub only --copies --noticed .5", "--files --pages 2",
  ].map { "--seed 1 --histories \(Seeds.factor * Seeds.rounds(200, debug: 10)) \($0)" }

  private static var options: [String] {
    ProcessInfo.processInfo.environment["KEEPSAKE_MODEL"].map { [$0] } ?? all
  }

  @Test(arguments: options)
  func everyOperationDoesWhatTheModelDoes(_ options: String) throws {
    let usesFiles = options.contains("--files")
    let words = options.split(separator: " ").map(String.init).filter { $0 != "--files" }
    let pages = words.firstIndex(of: "--pages").flatMap { Int(words[$0 + 1]) } ?? 50_000
    let model = Checkout.path("Tests/Model/check.py")
    let lines = try Command.run(
      Command.find("python3"), [model, "--json", "--tick", "65536000"] + words)
    try #require(lines.code == 0, "\(lines)")
    var replay = Replay(pageSize: pages, usesFiles: usesFiles)
    var (history, failed, count) = (0, 0, 0)
    for text in lines.stdout.split(separator: "\n") {
      let line = try JSONDecoder().decode(ModelLine.self, from: Data(text.utf8))
      if line.step == 1 {
        replay = Replay(pageSize: pages, usesFiles: usesFiles)
        history = line.history
        count += 1
      }
      // After the first difference the rest of a history differs, too.
      if failed == history { continue }
      let differences = try replay.play(line)
      guard !differences.isEmpty else { continue }
      failed = history
      Issue.record(
        """
        \(options): history \(line.history), step \(line.step), \(line.operation.do)
        \(differences.joined(separator: "\n"))
        """)
    }
    #expect(count > 0)
  }
}

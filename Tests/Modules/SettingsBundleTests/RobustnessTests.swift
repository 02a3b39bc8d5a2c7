// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import Testing

@Suite struct RobustnessTests {
  @Test func mutationsNeverCrash() {
    let seed = Chance.seed
    var chance = Chance(seed: seed)
    var outcomes: [String: Int] = [:]
    for round in Chance.rounds(6000) {
      var bytes = Array(Mutation.documents[round % Mutation.documents.count].utf8)
      for _ in 0...chance.below(3) { Mutation.change(&bytes, &chance) }
      let result = refusal(bytes)
      outcomes[String(result.split(separator: " ").last ?? ""), default: 0] += 1
      // A refusal has a place inside of the file.
      let line = result.split(separator: ":").first.flatMap { Int($0) }
      #expect(result == "accepted" || line != nil, "KEEPSAKE_SEED=\(seed) \(bytes)")
    }
    #expect(outcomes.count > 15, "mutations that only meet \(outcomes) test little")
  }

  @Test func randomBytesNeverCrash() {
    let seed = Chance.seed
    var chance = Chance(seed: seed)
    for _ in Chance.rounds(2000) {
      let bytes = (0..<chance.below(64)).map { _ in UInt8(chance.below(256)) }
      #expect(refusal(bytes) != "accepted", "KEEPSAKE_SEED=\(seed)")
      #expect(refusal(Array("<plist>".utf8) + bytes) != "accepted", "KEEPSAKE_SEED=\(seed)")
    }
  }
}

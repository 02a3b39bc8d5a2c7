// SPDX-License-Identifier: Apache-2.0
//
// hub-file-probe work FILE SEED   pushes until it is killed; says "ACCOUNT SEQ" of each push that
//                                 was acknowledged
// hub-file-probe KIND COUNT       prints what one takes, in nanoseconds: pushes, single, fsyncs,
//                                 up, down, nothing
// hub-file-probe http KIND COUNT PROGRAM
//                                 prints what one takes of devices of a hub that PROGRAM serves:
//                                 single, heard (median, p99), up, down, nothing, pushes, listeners
//                                 (bytes of each, processor nanoseconds a second of all)

import Foundation
import KeepsakeHubFile

private func play(_ words: [String]) throws {
  let count = words.count > 1 ? Int(words[1]) ?? 0 : 0
  switch words.first {
  case "work" where words.count == 3:
    let file = try HubFile(path: words[1])
    let crowd = try Crowd(
      file, accounts: 20, rows: 3, seed: UInt64(words[2]) ?? 0,
      acknowledged: { account, seq in
        FileHandle.standardOutput.write(Data("\(account) \(seq)\n".utf8))
      })
    try crowd.push(.max, atOnce: 8)
  case "http" where words.count == 4:
    let figures = try HTTPMeasurements.measure(words[1], Int(words[2]) ?? 0, words[3])
    print(figures.map { "\($0)" }.joined(separator: " "))
  case "pushes": print(try Measurements.pushes(count))
  case "single": print(try Measurements.single(count))
  case "fsyncs": print(try Measurements.fsyncs(count))
  case "up": print(try Measurements.up(count))
  case "down": print(try Measurements.down(count))
  case "nothing": print(try Measurements.nothing(count))
  default: throw Failure("hub-file-probe work FILE SEED, KIND COUNT, or http KIND COUNT PROGRAM")
  }
}

do {
  try play(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}

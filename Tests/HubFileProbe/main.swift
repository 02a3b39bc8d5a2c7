// SPDX-License-Identifier: Apache-2.0
//
// hub-file-probe work FILE SEED   pushes until it is killed; says "ACCOUNT SEQ" of each push that
//                                 was acknowledged
// hub-file-probe KIND COUNT       prints what one takes, in nanoseconds: pushes, push, up, down,
//                                 nothing, fsyncs
// hub-file-probe http KIND COUNT PROGRAM [POSTGRES]
//                                 prints what one takes of devices of a hub that PROGRAM serves,
//                                 over a file or a database without accounts:
//                                 single, heard (median, p99), up, down, nothing, push, pushes,
//                                 listeners (bytes of each, processor nanoseconds a second of all)

import Foundation
import HubCrowd
import KeepsakeHubFile
import KeepsakeStorage

private func play(_ words: [String]) throws {
  let count = words.count > 1 ? Int(words[1]) ?? 0 : 0
  switch words.first {
  case "work" where words.count == 3:
    let file = try HubFile(path: words[1])
    let crowd = try Crowd(
      AnsweringDatabase(file), accounts: 20, rows: 3, seed: UInt64(words[2]) ?? 0,
      acknowledged: { account, seq in
        FileHandle.standardOutput.write(Data("\(account) \(seq)\n".utf8))
      })
    try crowd.push(.max, atOnce: 8)
  case "http" where 4...5 ~= words.count:
    let figures = try HTTPMeasurements.measure(
      words[1], Int(words[2]) ?? 0, words[3], postgres: words.count > 4 ? words[4] : nil)
    print(figures.map { "\($0)" }.joined(separator: " "))
  case "fsyncs": print(try fsyncs(count))
  case let kind?:
    let folder = try TemporaryFolder()
    let file = try HubFile(path: folder.path + "/hub.sqlite")
    defer { file.close() }
    print(try Measurements.measure(kind, of: AnsweringDatabase(file), count))
  default: throw Failure("hub-file-probe work FILE SEED, KIND COUNT, or http KIND COUNT PROGRAM")
  }
}

/// What the disk takes for each commit at least: 32 KiB appended, and fsync.
private func fsyncs(_ count: Int) throws -> Double {
  let folder = try TemporaryFolder()
  let descriptor = open(folder.path + "/log", O_CREAT | O_RDWR, 0o600)
  guard descriptor >= 0 else { throw Failure("the file cannot be made") }
  defer { close(descriptor) }
  let block = [UInt8](repeating: 7, count: 32 << 10)
  return try Measurements.nanoseconds(count) {
    for place in 0..<count {
      guard pwrite(descriptor, block, block.count, off_t(place * block.count)) == block.count,
        fsync(descriptor) == 0
      else { throw Failure("the disk refuses") }
    }
  }
}

do {
  try play(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}

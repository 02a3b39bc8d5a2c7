// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import HubCrowd
import KeepsakeHubFile
import KeepsakeStorage

struct HubFileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "file", abstract: "Measures a hub's file, without a network.",
    discussion: "Prints the nanoseconds of one operation.")

  @Argument(help: "pushes, push, up, down, nothing, or fsyncs.") var kind: String
  @Argument(help: "The number of operations, or of rows.") var count: Int

  func run() throws {
    guard kind != "fsyncs" else { return say("\(try fsyncs())") }
    let folder = try TemporaryFolder()
    let file = try HubFile(path: folder.path + "/hub.sqlite")
    defer { file.close() }
    say("\(try Measurements.measure(kind, of: AnsweringDatabase(file), count))")
  }

  /// The least that the disk needs for each commit: 32 KiB appended, and fsync.
  private func fsyncs() throws -> Double {
    let folder = try TemporaryFolder()
    let descriptor = open(folder.path + "/log", O_CREAT | O_RDWR, 0o600)
    guard descriptor >= 0 else { throw Failure("the file cannot be created") }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 7, count: 32 << 10)
    return try Measurements.nanoseconds(count) {
      for place in 0..<count {
        guard pwrite(descriptor, block, block.count, off_t(place * block.count)) == block.count,
          fsync(descriptor) == 0
        else { throw Failure("the disk fails") }
      }
    }
  }
}

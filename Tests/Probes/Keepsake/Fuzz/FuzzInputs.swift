// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FuzzTargets
import KeepsakeTesting

struct FuzzInputs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inputs",
    abstract: "Reads files, and random mutants of them.",
    discussion: "Without --seconds and --mutants it reads the files as they are.")

  @Argument(help: "The reader: plist, json, lines or wire.") var target: FuzzTarget
  @Argument(help: "The files.") var files: [String]
  @OptionGroup var extent: FuzzExtent

  func run() throws {
    let documents = try files.sorted().map { file in
      (file, [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))))
    }
    for (file, bytes) in documents { try take(bytes, "\(file)") }
    report("fuzz", "\(target): \(documents.count) files, and all went well")
    guard extent.seconds != nil || extent.mutants != nil else { return }
    let hand = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz.\(target)")
    report("fuzz", "\(target): if this process crashes, its mutant is in \(hand.path)")
    let count = try extent.forEachSeed { seed in
      var generator = SeededGenerator(seed: seed)
      let bytes = Self.mutant(of: documents.map(\.1), using: &generator)
      try Data(bytes).write(to: hand)
      try take(bytes, "seed \(seed)")
    }
    try FileManager.default.removeItem(at: hand)
    report("fuzz", "\(target): \(count) mutants, and all went well")
  }

  private func take(_ bytes: [UInt8], _ story: String) throws {
    do {
      try target.take(bytes)
    } catch {
      report("fuzz", "\(target): \(story): \(error)")
      throw ExitCode.failure
    }
  }

  /// A document with a few changes, each of a byte, a bit, or of a piece that may come from another
  /// one.
  private static func mutant(
    of documents: [[UInt8]], using generator: inout SeededGenerator
  ) -> [UInt8] {
    var bytes = documents.randomElement(using: &generator) ?? []
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      let place = Int.random(in: 0...bytes.count, using: &generator)
      let other = documents.randomElement(using: &generator) ?? []
      let start = Int.random(in: 0...other.count, using: &generator)
      let length = Int.random(in: 0...40, using: &generator)
      let piece = other.dropFirst(start).prefix(length)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0 where place < bytes.count: bytes[place] = .random(in: 0...255, using: &generator)
      case 1 where place < bytes.count:
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + piece.count))
      case 3: for _ in 0..<8 { bytes.insert(contentsOf: piece, at: place) }
      default: bytes.insert(contentsOf: piece, at: place)
      }
    }
    return bytes
  }
}

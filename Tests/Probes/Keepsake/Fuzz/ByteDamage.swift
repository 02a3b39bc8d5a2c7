// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// Changes of pages, of headers and of the files beside the device file, below SQL.
enum ByteDamage {
  static func random(
    of files: [String: Data], using generator: inout SeededGenerator
  ) -> FileMutant.Change {
    let whole = files["", default: Data()]
    let file: FileMutant.File = files["-wal"] != nil && .random(using: &generator) ? .log : .main
    let bytes = files[file.rawValue, default: Data()]
    switch Int.random(in: 0..<12, using: &generator) {
    case 0...3 where file == .main:
      let page = Int.random(in: 0..<whole.count / PageDamage.size, using: &generator)
      let damage = PageDamage.allCases.randomElement(using: &generator) ?? .ones
      return .page(page, damage, seed: generator.next())
    case 4: return .length(file, .random(in: 0...bytes.count + 5000, using: &generator))
    case 5:
      let other = FileMutant.File.allCases.dropFirst().randomElement(using: &generator) ?? .log
      return .file(other, content(of: files, using: &generator))
    case 6...8:
      // The header of the file, or of a page, or of a frame of the log.
      let size = file == .main ? PageDamage.size : PageDamage.size + 24
      let first = file == .main ? 0 : 32
      let start = first + size * Int.random(in: 0..<max(1, bytes.count / size), using: &generator)
      let place = min(start + .random(in: 0..<16, using: &generator), bytes.count - 1)
      let isFirst = Int.random(in: 0..<3, using: &generator) == 0
      let header = Int.random(in: 0..<(file == .main ? 108 : 32), using: &generator)
      return .bytes(file, at: isFirst ? header : place, number(using: &generator))
    default:
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      return .bytes(file, at: place, number(using: &generator))
    }
  }

  /// One to eight bytes, mostly of a number at the edge of its range.
  private static func number(using generator: inout SeededGenerator) -> [UInt8] {
    let edges: [UInt64] = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, .max, .max >> 1]
    let isEdge = Int.random(in: 0..<3, using: &generator) > 0
    let value = isEdge ? edges.randomElement(using: &generator) ?? 0 : generator.next()
    let count = [1, 2, 4, 8].randomElement(using: &generator) ?? 1
    return withUnsafeBytes(of: value.bigEndian) { Array($0.suffix(count)) }
  }

  private static func content(
    of files: [String: Data], using generator: inout SeededGenerator
  ) -> Data {
    let noise = (0..<Int.random(in: 0...40_000, using: &generator)).map { _ in
      UInt8.random(in: 0...255, using: &generator)
    }
    let journal: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 1]
    let contents = [
      Data(), Data(noise), Data(journal + noise), files["", default: Data()],
      files["-wal", default: Data(noise)],
    ]
    return contents.randomElement(using: &generator) ?? Data()
  }

  static func apply(_ change: FileMutant.Change, to files: inout [String: Data]) {
    switch change {
    case .statement: break
    case .page(let page, let damage, let seed):
      var generator = SeededGenerator(seed: seed)
      guard let bytes = files[""], (page + 1) * PageDamage.size <= bytes.count else { return }
      files[""] = damage.apply(to: page, of: bytes, using: &generator)
    case .bytes(let file, let place, let new):
      guard var bytes = files[file.rawValue], place < bytes.count else { return }
      let end = min(bytes.count, place + new.count)
      bytes.replaceSubrange(place..<end, with: new.prefix(end - place))
      files[file.rawValue] = bytes
    case .length(let file, let length):
      guard let bytes = files[file.rawValue] else { return }
      files[file.rawValue] = bytes.prefix(length) + Data(count: max(0, length - bytes.count))
    case .file(let file, let data): files[file.rawValue] = data
    }
  }
}

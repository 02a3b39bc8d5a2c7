// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a page is written over with.
public enum PageDamage: CaseIterable, Sendable {
  case ones, zeros, noise, aFewBytes, anotherPage

  /// Bytes of a page of a device file.
  public static let size = 1024

  /// - Parameter page: counted from 0.
  public func apply(
    to page: Int, of whole: Data, using generator: inout SeededGenerator
  ) -> Data {
    let size = Self.size
    let place = page * size..<(page + 1) * size
    var bytes = whole
    switch self {
    case .ones: bytes.replaceSubrange(place, with: Data(repeating: 0xFF, count: size))
    case .zeros: bytes.replaceSubrange(place, with: Data(count: size))
    case .noise:
      bytes.replaceSubrange(
        place, with: (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
    case .aFewBytes:
      for _ in 0..<8 {
        bytes[Int.random(in: place, using: &generator)] = .random(in: 0...255, using: &generator)
      }
    case .anotherPage:
      let other = Int.random(in: 0..<whole.count / size, using: &generator) * size
      bytes.replaceSubrange(place, with: whole[other..<other + size])
    }
    return bytes
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What is imported, read piece by piece: a file, a pipe or a device, to its end, whatever its size
// claims to be.

package import Foundation

/// The bytes of an input, one after the other, and the part of them that is being gathered.
package final class ImportInput {
  let name: String
  /// The maximum size of a line, or of an array of them, in bytes. The largest value has 16 MiB,
  /// and JSON may escape each of its bytes by six.
  static let maximumPart = 100 << 20

  private let read: (Int) throws -> Data?
  private var chunk: [UInt8] = []
  private var place = 0
  /// What was gathered last.
  private(set) var part: [UInt8] = []

  /// - Parameters:
  ///   - name: for messages.
  ///   - read: gives up to so many bytes, and nil or none at the end.
  package init(name: String, read: @escaping (Int) throws -> Data?) {
    self.name = name
    self.read = read
  }

  static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
  }

  /// The first byte that is not white space, nor of a byte order mark.
  static func first(_ bytes: some Sequence<UInt8>) -> UInt8? {
    bytes.first { !isBlank($0) && !mark.contains($0) }
  }

  /// The beginning, with white space as far as something follows it within 16 MiB, which is not
  /// used up; empty when there is nothing.
  func head() throws -> [UInt8] {
    if place == chunk.count { try refill() }
    var start = chunk
    var hasContent = Self.first(chunk) != nil
    // A pipe may give less than what tells the formats from each other.
    while start.count < 16 || !hasContent && start.count < 1 << 24, !chunk.isEmpty {
      try refill()
      start += chunk
      hasContent = hasContent || Self.first(chunk) != nil
    }
    chunk = start
    return [UInt8](chunk[place...])
  }

  private func refill() throws {
    do {
      place = 0
      // Fewer bytes than that are no end: a pipe gives what it has.
      chunk = [UInt8](try read(1 << 16) ?? Data())
    } catch let error as InputError {
      throw error
    } catch {
      throw InputError(
        kind: .broken, message: "\(name): it cannot be read; check where it comes from")
    }
  }

  /// The next byte, which is not used up; nil at the end.
  func next() throws -> UInt8? {
    if place == chunk.count { try refill() }
    return place < chunk.count ? chunk[place] : nil
  }

  func skip() { place += 1 }

  /// Everything that is left.
  ///
  /// - Returns: nil if that is more than `limit` bytes.
  func rest(limit: Int) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    while try next() != nil {
      bytes += chunk[place...]
      place = chunk.count
      if bytes.count > limit { return nil }
    }
    return bytes
  }

  /// Gathers a part.
  ///
  /// - Parameter end: the byte that it ends before; nil for the end of the input.
  /// - Returns: whether that byte was found; otherwise the input ended.
  func gather(line: Int, upTo end: UInt8? = nil) throws -> Bool {
    drop()
    while try next() != nil {
      let length = chunk.withUnsafeBytes { chunk in
        let rest = UnsafeRawBufferPointer(rebasing: chunk[place...])
        let length = rest.baseAddress.flatMap { start in
          end.flatMap { memchr(start, Int32($0), rest.count).map { UnsafeRawPointer($0) - start } }
        }
        part += rest.prefix(length ?? rest.count)
        return length
      }
      place = length.map { place + $0 } ?? chunk.count
      guard part.count <= Self.maximumPart else {
        throw InputError(
          kind: .data,
          message: "\(name):\(line): this is longer than \(Self.maximumPart) bytes;"
            + " keep what is so large in a file of its own")
      }
      if length != nil { return true }
    }
    return false
  }

  /// Lets go of what was gathered.
  func drop() { part.removeAll(keepingCapacity: part.capacity <= 1 << 20) }
}

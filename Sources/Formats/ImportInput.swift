// SPDX-License-Identifier: Apache-2.0
//
// Reads a file, a pipe or a device piece by piece to its end, whatever size the system reports.

package import Foundation
import KeepsakeSettingsBundle

/// Reads the bytes of an input in parts, such as lines.
package final class ImportInput {
  let name: String
  /// The maximum size of a line, or of an array of lines, in bytes. The largest value has 16 MiB,
  /// and JSON may escape each of its bytes as six.
  static let maximumPart = 100 << 20

  private let read: (Int) throws -> Data?
  private var chunk: [UInt8] = []
  private var place = 0
  /// The part that was read last.
  private(set) var part: [UInt8] = []

  /// - Parameters:
  ///   - name: the name of the input, for messages.
  ///   - read: returns the next bytes, at most the given number; nil or none at the end.
  package init(name: String, read: @escaping (Int) throws -> Data?) {
    self.name = name
    self.read = read
  }

  /// The first byte that is neither white space nor a byte of a byte order mark.
  static func firstContent(of bytes: [UInt8]) -> UInt8? {
    bytes.first { !$0.isSpace && ![0xEF, 0xBB, 0xBF].contains($0) }
  }

  /// The beginning of the input, which stays unread: at least 16 bytes, and of leading white space
  /// up to 16 MiB. Shorter only if the input is; called before anything is read.
  func peek() throws -> [UInt8] {
    var start: [UInt8] = []
    var hasContent = false
    // A read of a pipe may return too few bytes to recognise the format.
    repeat {
      try refill()
      start += chunk
      hasContent = hasContent || Self.firstContent(of: chunk) != nil
    } while !chunk.isEmpty && (start.count < 16 || !hasContent && start.count < 1 << 24)
    chunk = start
    return start
  }

  private func refill() throws {
    do {
      place = 0
      // Fewer bytes are not the end: a pipe returns those that it has.
      chunk = [UInt8](try read(1 << 16) ?? Data())
    } catch let error as InputError {
      throw error
    } catch {
      throw InputError(
        kind: .broken, message: "\(name): it cannot be read; check where it comes from")
    }
  }

  private func hasMore() throws -> Bool {
    if place == chunk.count { try refill() }
    return place < chunk.count
  }

  /// - Parameter count: at most the bytes that `peek` returned.
  func skip(_ count: Int) { place += count }

  /// The bytes that were not read yet.
  ///
  /// - Returns: nil if they are more than `limit`.
  func rest(limit: Int) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    while try hasMore() {
      bytes += chunk[place...]
      place = chunk.count
      if bytes.count > limit { return nil }
    }
    return bytes
  }

  /// Reads the next part, and the byte that ends it.
  ///
  /// - Parameters:
  ///   - line: the number of the line, for messages.
  ///   - end: the byte that ends the part; nil for the end of the input.
  /// - Returns: false if the input ended without that byte.
  func readPart(line: Int, upTo end: UInt8? = nil) throws -> Bool {
    releasePart()
    while try hasMore() {
      let length = chunk.withUnsafeBytes { chunk in
        let rest = UnsafeRawBufferPointer(rebasing: chunk[place...])
        let length = rest.baseAddress.flatMap { start in
          end.flatMap { memchr(start, Int32($0), rest.count).map { UnsafeRawPointer($0) - start } }
        }
        part += rest.prefix(length ?? rest.count)
        return length
      }
      place = length.map { place + $0 + 1 } ?? chunk.count
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

  /// Removes the part, and frees its memory if that is more than 1 MiB.
  func releasePart() { part.removeAll(keepingCapacity: part.capacity <= 1 << 20) }
}

// SPDX-License-Identifier: Apache-2.0
//
// What is imported, read piece by piece: a file, a pipe or a device, to its end, whatever its size
// claims to be.

import Foundation
import KeepsakeDevice
import KeepsakeSettingsBundle

/// The bytes of an input, one after the other, and the part of them that is being gathered.
final class ImportInput {
  /// For messages.
  let name: String
  private let handle: FileHandle
  private var chunk = Data()
  private var place = 0
  /// What was gathered last.
  private(set) var part: [UInt8] = []

  /// Bytes of a line, or of an element of an array: room for every value that is not nearly all
  /// control characters.
  static let maximumPart = 2 * EntrySize.maximumValue

  init(_ path: String) throws {
    name = path == "-" ? "(standard input)" : path
    if path != "-" {
      var isFolder: ObjCBool = false
      guard try FileID(of: path) != nil,
        FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      else {
        throw Self.fail(.missing, name, "there is no such file; check the path")
      }
      if isFolder.boolValue { throw Self.fail(.data, name, "this is a folder; name a file") }
    }
    let handle = path == "-" ? .standardInput : FileHandle(forReadingAtPath: path)
    guard let handle else {
      throw Self.fail(.unreadable, name, "the file cannot be read; check its permissions")
    }
    self.handle = handle
  }

  private static func fail(
    _ kind: InputError.Kind, _ name: String, _ message: String
  ) -> InputError {
    InputError(kind: kind, message: "\(name): \(message)")
  }

  static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  static let blanks: Set<UInt8> = [0x20, 0x09, 0x0D, 0x0A]

  /// The first byte that is not white space, nor of a byte order mark.
  static func first(_ bytes: some Sequence<UInt8>) -> UInt8? {
    bytes.first { !blanks.contains($0) && !mark.contains($0) }
  }

  /// The beginning, with white space as far as something follows it within 16 MiB, which is not
  /// used up; empty when there is nothing.
  func head() throws -> [UInt8] {
    if place == chunk.count { try refill() }
    var start = chunk
    while start.count < 1 << 24, Self.first(chunk) == nil, !chunk.isEmpty {
      try refill()
      start += chunk
    }
    chunk = start
    return [UInt8](chunk[place...])
  }

  private func refill() throws {
    do {
      place = 0
      // Fewer bytes than that are no end: a pipe gives what it has.
      chunk = try handle.read(upToCount: 1 << 16) ?? Data()
    } catch {
      throw Self.fail(.broken, name, "it cannot be read; check where it comes from")
    }
  }

  /// The next byte, which is not used up; nil at the end.
  func next() throws -> UInt8? {
    if place == chunk.count { try refill() }
    return place < chunk.count ? chunk[place] : nil
  }

  func skip() { place += 1 }

  /// Everything that is left, behind what was gathered last.
  ///
  /// - Returns: nil if that is more than `limit` bytes.
  func rest(after part: [UInt8] = [], limit: Int) throws -> [UInt8]? {
    var bytes = part
    while try next() != nil {
      bytes += chunk[place...]
      place = chunk.count
      if bytes.count > limit { return nil }
    }
    return bytes
  }

  /// Gathers a part.
  ///
  /// - Parameter end: finds where it ends in the bytes that it gets, if it does.
  /// - Returns: whether the end was found; otherwise the input ended.
  func gather(
    line: Int, until end: (UnsafeBufferPointer<UInt8>) -> Int?
  ) throws -> Bool {
    part.removeAll(keepingCapacity: part.capacity <= 1 << 20)
    while try next() != nil {
      let rest = chunk[place...]
      let length = rest.withUnsafeBytes { end($0.bindMemory(to: UInt8.self)) }
      part += rest.prefix(length ?? rest.count)
      place += length ?? rest.count
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
  func drop() { part = [] }
}

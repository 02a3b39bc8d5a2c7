// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeTransfer
import KeepsakeValues

/// Writes that were checked and are still to be made: in memory as long as they are few, in a
/// temporary file without a name beyond that.
final class Spool {
  private static let memory = 4 << 20

  private(set) var count = 0
  private var bytes: [UInt8] = []
  /// Where to read on in `bytes`.
  private var place = 0
  private var left = 0
  private var file: UnsafeMutablePointer<FILE>?

  deinit {
    if let file { fclose(file) }
  }

  /// - Throws: `KeepsakeError` when the system's temporary folder is full, or cannot be written.
  func append(_ line: TransferLine) throws {
    count += 1
    var (kind, number): (Int64, Int64) = (0, 0)
    var payload: [String] = []
    var blob = Data()
    switch line.content.cell {
    case .null: break
    case .integer(let value): (kind, number) = (1, value)
    case .real(let value): (kind, number) = (2, Int64(bitPattern: value.bitPattern))
    case .text(let text):
      (kind, number) = (3, Int64(text.utf8.count))
      payload = [text]
    case .blob(let data):
      (kind, number) = (4, Int64(data.count))
      blob = data
    }
    let head = [
      Int64(line.store.utf8.count), Int64(line.key.utf8.count), line.time ?? -1, line.content.tag,
      kind, number,
    ]
    try head.withUnsafeBytes(write)
    for text in [line.store, line.key] + payload {
      var text = text
      try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }
    try blob.withUnsafeBytes(write)
  }

  private func write(_ piece: UnsafeRawBufferPointer) throws {
    guard file != nil || bytes.count + piece.count > Self.memory else {
      bytes.append(contentsOf: piece)
      return
    }
    if file == nil {
      file = try Self.temporaryFile()
      try bytes.withUnsafeBytes(write)
      bytes = []
    }
    guard let file, !piece.isEmpty else { return }
    guard fwrite(piece.baseAddress, 1, piece.count, file) == piece.count else { throw Self.failure }
  }

  private static var failure: KeepsakeError {
    KeepsakeError(system: errno, path: TemporaryFolder.parent)
  }

  /// No other process finds it, and it goes with this one.
  private static func temporaryFile() throws -> UnsafeMutablePointer<FILE> {
    let folder = try TemporaryFolder()
    guard let file = fopen(folder.path + "/import", "w+e") else { throw failure }
    return file
  }

  /// Makes `next` begin with the first.
  func rewind() throws {
    (place, left) = (0, count)
    guard let file else { return }
    guard fflush(file) == 0, fseek(file, 0, SEEK_SET) == 0 else { throw Self.failure }
  }

  /// The next write; nil behind the last.
  func next() throws -> LocalWrite? {
    guard left > 0 else { return nil }
    left -= 1
    var head = [Int64](repeating: 0, count: 6)
    try head.withUnsafeMutableBytes(read)
    let (store, key) = (try text(head[0]), try text(head[1]))
    let cell: Cell =
      switch head[4] {
      case 1: .integer(head[5])
      case 2: .real(Double(bitPattern: UInt64(bitPattern: head[5])))
      case 3: .text(try text(head[5]))
      case 4: .blob(try data(head[5]))
      default: .null
      }
    return LocalWrite(
      store: store, key: key, content: TaggedCell(tag: head[3], cell: cell),
      wallClock: head[2] < 0 ? nil : head[2])
  }

  private func text(_ count: Int64) throws -> String {
    try String(unsafeUninitializedCapacity: Int(count)) { target in
      try read(
        UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(target)[..<Int(count)]))
      return Int(count)
    }
  }

  private func data(_ count: Int64) throws -> Data {
    var data = Data(count: Int(count))
    try data.withUnsafeMutableBytes(read)
    return data
  }

  private func read(_ target: UnsafeMutableRawBufferPointer) throws {
    guard !target.isEmpty else { return }
    guard let file else {
      target.copyBytes(from: bytes[place..<place + target.count])
      place += target.count
      return
    }
    guard fread(target.baseAddress, 1, target.count, file) == target.count else {
      throw Self.failure
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// What is on the disk when the power goes. Assumed of it, as SQLite assumes:
// - What was synced is there.
// - Of what was written to a file since, any part may be there, whatever its order, down to sectors
//   of 512 bytes. A sector is as it was at some moment since (SQLITE_IOCAP_POWERSAFE_OVERWRITE).
//   What a file has grown by and was not written reads as zeros.
// - Of the names that were given and taken in a folder since its last sync, the earlier ones are
//   there and the later ones not, as the journals of file systems have it. The names of one folder
//   say nothing of another's, and nothing of what is in the files.

import KeepsakeTesting

/// The files at one moment of a recording: what is on the disk, and what may be.
struct Disk {
  static let sector = 512

  fileprivate struct File {
    /// As on the disk.
    var bytes: [UInt8] = []
    /// Writes and truncations that may not be there yet.
    var pending: [Recording.Event] = []
  }

  private var files: [Recording.File: File] = [:]
  private var names: [String: Recording.File] = [:]
  /// By folder.
  private var pendingNames: [String: [(path: String, file: Recording.File?)]] = [:]

  /// - Parameter count: how many of the events had happened.
  init(_ recording: Recording, after count: Int) {
    for (path, (file, bytes)) in recording.before {
      files[file] = File(bytes: bytes)
      names[path] = file
    }
    for event in recording.events.prefix(count) { note(event) }
  }

  private mutating func note(_ event: Recording.Event) {
    switch event {
    case .write(let file, _, _), .truncate(let file, _):
      files[file, default: File()].pending.append(event)
    case .sync(let file):
      files[file, default: File()].sync()
    case .name(let path, let file):
      pendingNames[Self.folder(path), default: []].append((path, file))
    case .syncFolder(let folder):
      for (path, file) in pendingNames[folder] ?? [] { names[path] = file }
      pendingNames[folder] = nil
    }
  }

  private static func folder(_ path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  /// What running programs see, by path.
  var live: [String: [UInt8]] {
    var names = names
    for changes in pendingNames.values { for (path, file) in changes { names[path] = file } }
    return names.mapValues { file in
      var file = files[file] ?? File()
      file.sync()
      return file.bytes
    }
  }

  /// What a disk could hold now, by path.
  func image(using generator: inout SeededGenerator) -> [String: [UInt8]] {
    var names = names
    for (_, changes) in pendingNames.sorted(by: { $0.key < $1.key }) {
      let count = Int.random(in: 0...changes.count, using: &generator)
      for (path, file) in changes.prefix(count) { names[path] = file }
    }
    var bytes: [Recording.File: [UInt8]] = [:]
    for (id, file) in files.sorted(by: { $0.key < $1.key }) {
      bytes[id] = file.image(Loss.random(using: &generator), using: &generator)
    }
    return names.mapValues { bytes[$0] ?? [] }
  }
}

/// How much of what was not synced a disk loses.
private enum Loss: CaseIterable {
  case nothing, everything, theEnd, someWrites, someSectors, mostSectors

  static func random(using generator: inout SeededGenerator) -> Loss {
    allCases.randomElement(using: &generator) ?? .nothing
  }
}

extension Disk.File {
  /// Everything that is pending is on the disk.
  fileprivate mutating func sync() {
    for event in pending { Self.apply(event, to: &bytes) }
    pending = []
  }

  fileprivate func image(_ loss: Loss, using generator: inout SeededGenerator) -> [UInt8] {
    var (now, image) = (bytes, bytes)
    let end = Int.random(in: 0...pending.count, using: &generator)
    for (number, event) in pending.enumerated() {
      Self.apply(event, to: &now)
      let isKept: Bool? =
        switch loss {
        case .nothing: true
        case .everything: false
        // The first that is lost is torn.
        case .theEnd: number < end ? true : number == end ? nil : false
        case .someWrites: Bool.random(using: &generator)
        case .someSectors, .mostSectors: nil
        }
      let percent = loss == .mostSectors ? 10 : 50
      switch event {
      case .write(_, let offset, let data):
        for sector in offset / Disk.sector...(offset + max(data.count, 1) - 1) / Disk.sector
        where isKept ?? (Int.random(in: 0..<100, using: &generator) < percent) {
          let start = sector * Disk.sector
          let end = min(start + Disk.sector, now.count)
          if image.count < end { image += Array(repeating: 0, count: end - image.count) }
          image.replaceSubrange(start..<end, with: now[start..<end])
        }
      case .truncate:
        if isKept ?? Bool.random(using: &generator) { Self.apply(event, to: &image) }
      default: break
      }
    }
    return image
  }

  private static func apply(_ event: Recording.Event, to bytes: inout [UInt8]) {
    switch event {
    case .write(_, let offset, let data):
      let end = offset + data.count
      if bytes.count < end { bytes += Array(repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(offset..<end, with: data)
    case .truncate(_, let size):
      if bytes.count > size { bytes.removeLast(bytes.count - size) }
      if bytes.count < size { bytes += Array(repeating: 0, count: size - bytes.count) }
    default: break
    }
  }
}

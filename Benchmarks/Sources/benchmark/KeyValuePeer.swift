// SPDX-License-Identifier: Apache-2.0

import Peers

/// LMDB or LevelDB.
final class KeyValuePeer {
  static let names = ["LMDB", "LevelDB"]

  private let peer: OpaquePointer
  private var buffer = [CChar](repeating: 0, count: 64)

  /// - Parameter keys: of a new database, which has as many.
  init(_ name: String, path: String? = nil, keys: Int = 0, synced: Bool = false) throws {
    let kind = name == "LMDB" ? PeerLMDB : PeerLevelDB
    guard peer_is_installed(kind) else { throw Failure("not installed") }
    guard let peer = peer_open(kind, path ?? Files.new(".\(name)"), synced) else {
      throw Failure("cannot be opened")
    }
    self.peer = peer
    for start in stride(from: 0, to: keys, by: 10_000) {
      let numbers = start..<min(start + 10_000, keys)
      try put(
        numbers.map(Fixture.key).joined(), numbers.map(Fixture.value).joined(),
        count: numbers.count)
    }
  }

  deinit { peer_close(peer) }

  func get(_ key: String) -> String? {
    var key = key
    let count = key.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        peer_get(peer, $0.baseAddress, $0.count, &buffer, buffer.count)
      }
    }
    guard count >= 0 else { return nil }
    return buffer.withUnsafeBytes { String(decoding: $0.prefix(count), as: UTF8.self) }
  }

  /// - Parameter count: how many keys and values stand in the texts, all of one length.
  func put(_ keys: String, _ values: String, count: Int = 1) throws {
    var (keys, values) = (keys, values)
    let isDone = keys.withUTF8 { keys in
      values.withUTF8 { values in
        keys.withMemoryRebound(to: CChar.self) { keys in
          values.withMemoryRebound(to: CChar.self) { values in
            peer_put(
              peer, keys.baseAddress, keys.count / count, values.baseAddress,
              values.count / count, count)
          }
        }
      }
    }
    guard isDone else { throw Failure("a put failed") }
  }
}

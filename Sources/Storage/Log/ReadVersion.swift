// SPDX-License-Identifier: Apache-2.0
//
// Whether there was a commit since, for the price of six loads. In write-ahead-log mode every
// process that has the file open maps the same wal-index, and every commit changes its header
// (https://www.sqlite.org/walformat.html#the_wal_index_header). The page is SQLite's, mapped a
// second time: a descriptor of ours would drop SQLite's locks when it is closed, and SQLite's own
// mapping goes with the connection, while the version of a value that was read through it may be
// compared later, by any thread.

import CKeepsake
import CSQLite
import Foundation
import Synchronization

/// How often what is read besides the file has changed: the layers that stores have in memory. Of
/// all stores of a file together, which costs those that did not change one reading.
package final class LayerVersion: Sendable {
  private let count = Atomic<Int>(0)

  package init() {}

  package var value: Int { count.load(ordering: .acquiring) }

  /// After the change.
  package func change() { count.add(1, ordering: .releasing) }
}

/// A state of a database and of the layers in memory. What was read after a version was taken is
/// valid while that is the present one.
package struct ReadVersion: Equatable, Sendable {
  fileprivate let layers: Int
  private let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  init(count: UInt64, layers: Int) {
    // Where the header of a wal-index has its own count.
    words = (0, count, 0, 0, 0, 0)
    self.layers = layers
  }

  init(header: UnsafeRawPointer, layers: Int) {
    self.layers = layers
    func word(_ index: Int) -> UInt64 { header.load(fromByteOffset: index * 8, as: UInt64.self) }
    words = (word(0), word(1), word(2), word(3), word(4), word(5))
  }

  /// The next one of those that are counted here.
  fileprivate var next: ReadVersion { ReadVersion(count: words.1 + 1, layers: layers) }

  /// How many commits there were (`iChange`).
  fileprivate var commits: UInt32 { UInt32(truncatingIfNeeded: words.1) }

  package static func == (a: ReadVersion, b: ReadVersion) -> Bool {
    let low = a.words.0 ^ b.words.0 | a.words.1 ^ b.words.1 | a.words.2 ^ b.words.2
    let high = a.words.3 ^ b.words.3 | a.words.4 ^ b.words.4 | a.words.5 ^ b.words.5
    return low | high == 0 && a.layers == b.layers
  }
}

/// The header of a database's wal-index, until `end` is called, also when the connection is closed.
// Sendable: the memory is shared with other processes anyway. A load during a store returns a
// header that equals no earlier one, or the one from before the commit.
struct WalIndex: @unchecked Sendable {
  private let header: UnsafeRawPointer

  /// - Parameters:
  ///   - page: SQLite's.
  ///   - mapAgain: maps it a second time.
  /// - Returns: nil where the system allows no second mapping, as where the address space is
  ///   limited: then reads ask SQLite.
  init?(
    _ page: UnsafeMutableRawPointer,
    mapAgain: (UnsafeMutableRawPointer) -> UnsafeRawPointer?
  ) {
    guard let header = mapAgain(page) else { return nil }
    self.header = header
  }

  /// SQLite's page of the header.
  ///
  /// - Parameter connection: must have read from the file, so that its index exists; otherwise
  ///   SQLite would create the index here.
  /// - Returns: nil where SQLite has no such mapping.
  static func page(_ connection: Connection) -> UnsafeMutableRawPointer? {
    guard case .success(let file) = Result(catching: connection.databaseFile),
      let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
      let map = methods.pointee.xShmMap
    else { return nil }
    var region: UnsafeMutableRawPointer?
    // The first region, of the size that SQLite itself asks for; not made when it is not there.
    // SQLite also maps an index that it may only read, and says so by its result.
    guard [SQLITE_OK, SQLITE_READONLY].contains(map(file, 0, 32768, 0, &region)), let region
    else { return nil }
    return region
  }

  func end() { keepsake_unmap(header) }

  /// How many commits there were, modulo 2^32 (`iChange`). It starts anew when SQLite has to
  /// make the index anew, because a writer was killed at the wrong moment.
  var commits: UInt32 { header.load(fromByteOffset: 8, as: UInt32.self) }

  func isNow(_ version: ReadVersion, layers: Int) -> Bool {
    let isNow = version == ReadVersion(header: header, layers: layers)
    atomicMemoryFence(ordering: .acquiring)
    return isNow
  }

  func version(layers: Int) -> ReadVersion {
    let version = ReadVersion(header: header, layers: layers)
    // What is read after this is read from that state or a later one.
    atomicMemoryFence(ordering: .acquiring)
    return version
  }
}

/// The present read version of a file. An object of its own, without weak references, which would
/// make every reference to it several times as slow.
package final class ReadVersions: Sendable {
  private let index: WalIndex?
  private let layers: LayerVersion
  private let hasVersions: Bool
  private let ownCommits = Atomic<UInt64>(0)
  /// The thread that is in a transaction, which alone sees its own state; 0 for none.
  private let writer = Atomic<UInt>(0)

  /// - Parameters:
  ///   - index: nil in memory, and where SQLite has none. It ends with this object.
  ///   - layers: of the file.
  ///   - isPrivate: whether only this storage can write; then its commits are counted.
  init(_ index: WalIndex?, layers: LayerVersion, isPrivate: Bool) {
    self.layers = layers
    self.index = index
    hasVersions = index != nil || isPrivate
  }

  deinit { index?.end() }

  /// The state that a read would see now; nil where it is unknown: within a transaction of this
  /// thread, and where SQLite does not show it.
  package var now: ReadVersion? {
    guard hasVersions, writer.load(ordering: .relaxed) != currentThread else { return nil }
    return version
  }

  /// Whether `version`, which this object has given, is still the state that a read would see.
  package func isNow(_ version: ReadVersion) -> Bool {
    guard hasVersions, writer.load(ordering: .relaxed) != currentThread else { return false }
    let layers = layers.value
    return index?.isNow(version, layers: layers)
      ?? (version == ReadVersion(count: ownCommits.load(ordering: .acquiring), layers: layers))
  }

  /// The state that a write transaction of this thread began with, until it has written something;
  /// nil if the commits of other processes do not show in it.
  package var beforeCommit: ReadVersion? { hasVersions ? version : nil }

  /// The state that a transaction of this thread has made, before it is ended here.
  ///
  /// - Parameter before: what it began with.
  /// - Returns: nil where another process has committed since, where nothing was written, and where
  ///   the layers in memory have changed meanwhile, which is no part of the commit.
  package func successor(of before: ReadVersion) -> ReadVersion? {
    guard let index else { return before.next }
    let now = index.version(layers: layers.value)
    return now.commits == before.commits &+ 1 && now.layers == before.layers ? now : nil
  }

  private var version: ReadVersion {
    let layers = layers.value
    return index?.version(layers: layers)
      ?? ReadVersion(count: ownCommits.load(ordering: .acquiring), layers: layers)
  }

  /// Whether SQLite shows the commits of others.
  package var seesOthers: Bool { index != nil }

  /// The file's count of commits, also of other processes; 0 where others cannot commit.
  package var commits: UInt32 { index?.commits ?? 0 }

  /// Whether this process is in a write transaction, so that no other can commit.
  package var isWriting: Bool { writer.load(ordering: .relaxed) != 0 }

  /// Whether this thread is in a transaction.
  package var isInOurTransaction: Bool { writer.load(ordering: .relaxed) == currentThread }

  /// Waits about a tenth of a millisecond for another process's commit. That process may need this
  /// very processor, so it is yielded again and again.
  ///
  /// - Parameter commits: the count before it.
  package func wait(for commits: UInt32) {
    for _ in 0..<200 where self.commits == commits && !isWriting { sched_yield() }
  }

  package func beginTransaction() { writer.store(currentThread, ordering: .relaxed) }

  package func endTransaction() {
    ownCommits.add(1, ordering: .releasing)
    writer.store(0, ordering: .relaxed)
  }
}

/// A number that no other running thread has; never 0.
package var currentThread: UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

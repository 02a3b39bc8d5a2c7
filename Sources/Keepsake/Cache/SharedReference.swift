// SPDX-License-Identifier: Apache-2.0
//
// A reference that is read without a lock, and without retaining its object.
//
// When may the object be released? A reader increments a count, loads the pointer, copies what it
// needs and decrements the count. A writer that replaces the pointer releases the old object once
// every count has been zero after that. A reader writes the count and then reads the pointer, a
// writer writes the pointer and then reads the counts, all sequentially consistent: so the writer
// sees the reader's count, or the reader the new pointer (Dekker's argument), and then all of the
// new object, which was made before the exchange. What a reader did before it decremented its count
// happens before the writer reads a zero: the operations on a count are one release sequence, of
// which the writer acquires the last.
//
// Objects that the object refers to by such pointers are as safe: a thread that replaces one sees
// each reader that incremented its count before it loaded the pointer.
//
// A reader must retain its copies before it decrements the count. So `ReaderCount.end` is never
// inlined, and `extendLifetime` precedes it: the optimiser moves no retain below either.
//
// One count for all would be as slow as a lock between threads, so there are several, each in its
// own cache lines, and a thread uses one of them.

import CKeepsake
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A reference to an object, which may be replaced while others read.
// Sendable: the pointer is atomic, and owns the object.
@usableFromInline
package struct SharedReference<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
  private let pointer = Atomic<UnsafeRawPointer?>(nil)

  package init() {}

  deinit { RetiredObjects.release(pointer.load(ordering: .acquiring)) }

  /// The object, which lives until `end()`. Call that after a few instructions: a thread that
  /// replaces the object waits for it.
  @usableFromInline
  package struct Borrowed {
    @usableFromInline package let object: Unmanaged<Object>
    @usableFromInline let count: ReaderCount

    @inlinable @inline(__always)
    package func end() { count.end() }
  }

  /// - Returns: nil if there is no object.
  @inline(__always)
  package func borrow() -> Borrowed? {
    let count = ReaderCount()
    guard let object = unretained() else {
      count.end()
      return nil
    }
    return Borrowed(object: object, count: count)
  }

  /// The object, which lives as long as the caller borrows any object.
  @inline(__always)
  func unretained() -> Unmanaged<Object>? {
    pointer.load(ordering: .sequentiallyConsistent).map { Unmanaged<Object>.fromOpaque($0) }
  }

  /// The object, retained for the caller.
  package var object: Object? {
    guard let borrowed = borrow() else { return nil }
    let object = borrowed.object.takeUnretainedValue()
    extendLifetime(object)
    borrowed.end()
    return object
  }

  /// Do not call this with a lock: it releases the old object, whose deinit may read and change
  /// settings.
  package func replace(by object: Object) {
    let new = UnsafeRawPointer(Unmanaged.passRetained(object).toOpaque())
    RetiredObjects.retire(pointer.exchange(new, ordering: .sequentiallyConsistent))
  }
}

/// The count that a reader has incremented.
@usableFromInline
struct ReaderCount {
  private let count: UnsafeMutablePointer<Atomic<Int>>

  /// Increments the count of this thread, which is its own unless there are more threads than
  /// counts.
  @inline(__always)
  init() {
    count = Self.at(keepsake_thread_number())
    count.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  /// Decrements it.
  @inline(never) @usableFromInline
  func end() { count.pointee.wrappingSubtract(1, ordering: .releasing) }

  /// The counts are never deallocated: a reader may still run when the process exits.
  @inline(__always)
  fileprivate static func at(_ index: UInt32) -> UnsafeMutablePointer<Atomic<Int>> {
    keepsake_reader_count(index).assumingMemoryBound(to: Atomic<Int>.self)
  }
}

/// Objects that were replaced, and that readers may still use.
private enum RetiredObjects {
  /// Above this number of retired objects, `retire` waits for readers.
  private static let spinLimit = 64

  // Sendable: once `isOver()` is true, no other thread uses the object.
  private struct Waiting: @unchecked Sendable {
    let object: UnsafeRawPointer
    /// One bit for each count that has not been zero since.
    var busy: UInt32 = .max

    mutating func isOver() -> Bool {
      for index in 0..<UInt32(keepsake_reader_places) where busy & 1 << index != 0 {
        let readers = ReaderCount.at(index).pointee.load(ordering: .sequentiallyConsistent)
        if readers == 0 { busy &= ~(1 << index) }
      }
      return busy == 0
    }
  }

  private static let waiting = Mutex<[Waiting]>([])

  /// Releases an object when no reader can use it any more: now, or when another object is retired.
  ///
  /// - Parameter object: a retained object that no new reader can find.
  static func retire(_ object: UnsafeRawPointer?) {
    guard let object else { return }
    waiting.withLock { $0.append(Waiting(object: object)) }
    var rounds = 0
    while true {
      let (over, rest) = waiting.withLock { all in
        var over: [UnsafeRawPointer] = []
        for index in all.indices.reversed() where all[index].isOver() {
          over.append(all.remove(at: index).object)
        }
        return (over, all.count)
      }
      // Without the lock: a deinit may read and change settings.
      for object in over { release(object) }
      guard rest > spinLimit else { return }
      rounds += 1
      // `sched_yield` does not yield to a reader with a lower priority.
      if rounds < 100 { sched_yield() } else { usleep(100) }
    }
  }

  /// Releases an object that no reader can use.
  static func release(_ object: UnsafeRawPointer?) {
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A reference that is read without a lock, and without retaining its object.
//
// When may the object be released? A reader counts itself in, loads the pointer, copies what it
// needs and counts itself out. A writer that replaces the pointer releases the old object once
// every count has been zero after that. A reader writes the count and then reads the pointer, a
// writer writes the pointer and then reads the counts, all sequentially consistent: so the writer
// sees the reader's count, or the reader the new pointer (Dekker's argument), and then all of the
// new object, which was made before the exchange. What a reader did before it counted itself out
// happens before the writer reads a zero: the counts are one release sequence, of which the writer
// acquires the last.
//
// Objects that the object refers to by such pointers are as safe: a thread that replaces one sees
// each reader that counted itself in before it loaded the pointer.
//
// A reader must retain its copies before it counts itself out. So `leave` is never inlined, and
// `extendLifetime` precedes `giveBack`: the optimiser moves no retain below either.
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

  deinit { Readers.release(pointer.load(ordering: .acquiring)) }

  /// The object, which lives until the loan is given back. A loan lasts a few instructions, because
  /// a thread that replaces the object waits for it.
  @usableFromInline
  package struct Loan {
    @usableFromInline package let object: Unmanaged<Object>
    @usableFromInline let reader: Reader

    @inlinable @inline(__always)
    package func giveBack() { reader.leave() }
  }

  /// - Returns: nil when there is no object.
  @inline(__always)
  package func borrow() -> Loan? {
    let reader = Reader()
    guard let object = peek() else {
      reader.leave()
      return nil
    }
    return Loan(object: object, reader: reader)
  }

  /// The object, valid as long as a loan of any reference that the caller already has.
  @inline(__always)
  func peek() -> Unmanaged<Object>? {
    pointer.load(ordering: .sequentiallyConsistent).map { Unmanaged<Object>.fromOpaque($0) }
  }

  /// The object, retained for the caller.
  package var object: Object? {
    guard let loan = borrow() else { return nil }
    let object = loan.object.takeUnretainedValue()
    extendLifetime(object)
    loan.giveBack()
    return object
  }

  /// Must not be called with a lock: it releases the old object, whose deinit may read and change
  /// settings.
  package func replace(by object: Object) {
    let new = UnsafeRawPointer(Unmanaged.passRetained(object).toOpaque())
    Readers.retire(pointer.exchange(new, ordering: .sequentiallyConsistent))
  }
}

/// A reader that is counted in.
@usableFromInline
struct Reader {
  private let count: UnsafeMutablePointer<Atomic<Int>>

  @inline(__always)
  init() {
    count = Readers.place
    count.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  /// Counts it out.
  @inline(never) @usableFromInline
  func leave() { count.pointee.wrappingSubtract(1, ordering: .releasing) }
}

private enum Readers {
  /// Above this number of retired objects, `retire` waits for readers.
  private static let spinLimit = 64

  // Sendable: once `isOver()` is true, no other thread uses the object.
  private struct Waiting: @unchecked Sendable {
    let object: UnsafeRawPointer
    /// One bit for each count that has not been zero since.
    var busy: UInt32 = .max

    mutating func isOver() -> Bool {
      for index in 0..<UInt32(keepsake_reader_places) where busy & 1 << index != 0 {
        let readers = count(index).pointee.load(ordering: .sequentiallyConsistent)
        if readers == 0 { busy &= ~(1 << index) }
      }
      return busy == 0
    }
  }

  private static let waiting = Mutex<[Waiting]>([])

  /// The counts are never deallocated: a reader may still run when the process exits.
  @inline(__always)
  private static func count(_ place: UInt32) -> UnsafeMutablePointer<Atomic<Int>> {
    keepsake_reader_count(place).assumingMemoryBound(to: Atomic<Int>.self)
  }

  /// The count of this thread, its own as long as there are not more threads than counts.
  @inline(__always)
  static var place: UnsafeMutablePointer<Atomic<Int>> { count(keepsake_thread_number()) }

  /// Releases an object when no reader can use it any more: at once, or when others are retired.
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
      // The reader may have a lower priority, and get no processor from `sched_yield`.
      if rounds < 100 { sched_yield() } else { usleep(100) }
    }
  }

  /// Releases an object that no reader can use.
  static func release(_ object: UnsafeRawPointer?) {
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
  }
}

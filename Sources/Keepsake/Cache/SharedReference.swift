// SPDX-License-Identifier: Apache-2.0
//
// A reference that is read without a lock, and without counting up the object that it leads to.
//
// When may the object go? A reader counts itself in, loads the pointer, copies what it wants and
// counts itself out. Who replaces the pointer lets the old object go once every count has been zero
// after that. A reader writes the count and then reads the pointer, a writer writes the pointer and
// then reads the counts, all sequentially consistent: so the writer sees the reader's count, or the
// reader the new pointer (Dekker's argument), and then all of the new object, which was made before
// the exchange. What a reader did before it counted itself out happens before the writer reads a
// zero: the counts are one release sequence, of which the writer acquires the last.
//
// What is reached from the object by such pointers is as safe: a reader that counted itself in
// before it loaded one of them is seen by the thread that replaces it.
//
// What a reader copies has to be its own before it counts itself out. `giveBack` is therefore no
// function that the optimiser knows, and `extendLifetime` stands before it: a retain is not moved
// below either.
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

  /// The object, which stays until the loan is given back: a few instructions later, since who
  /// replaces it waits.
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

  /// The object, for as long as a loan lasts that the caller has already, of whatever reference.
  @inline(__always)
  func peek() -> Unmanaged<Object>? {
    pointer.load(ordering: .sequentiallyConsistent).map { Unmanaged<Object>.fromOpaque($0) }
  }

  /// The object, with a reference of the caller's.
  package var object: Object? {
    guard let loan = borrow() else { return nil }
    let object = loan.object.takeUnretainedValue()
    extendLifetime(object)
    loan.giveBack()
    return object
  }

  /// Not to be called with a lock: the old object goes, and what goes may read settings, and change
  /// them.
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
  /// Objects that wait before one who retires another has to wait with them.
  private static let spinLimit = 64

  // Sendable: no other thread uses the object any more, once it is over.
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

  /// As long as the process: a reader that goes on at its end must find them.
  @inline(__always)
  private static func count(_ place: UInt32) -> UnsafeMutablePointer<Atomic<Int>> {
    keepsake_reader_count(place).assumingMemoryBound(to: Atomic<Int>.self)
  }

  /// The count of this thread, its own as long as there are not more threads than counts.
  @inline(__always)
  static var place: UnsafeMutablePointer<Atomic<Int>> { count(keepsake_thread_number()) }

  /// Lets an object go when no reader can have it any more: at once, or when others are retired.
  ///
  /// - Parameter object: one that was retained, and that no new reader can find.
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
      // Without the lock: what goes may read settings, and change them.
      for object in over { release(object) }
      guard rest > spinLimit else { return }
      rounds += 1
      // The reader may have a lower priority, and get no processor from `sched_yield`.
      if rounds < 100 { sched_yield() } else { usleep(100) }
    }
  }

  /// Lets an object go that no reader can have.
  static func release(_ object: UnsafeRawPointer?) {
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
  }
}

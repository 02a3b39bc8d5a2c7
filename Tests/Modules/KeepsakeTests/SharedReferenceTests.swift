// SPDX-License-Identifier: Apache-2.0

import CKeepsake
import Dispatch
import Foundation
import Keepsake
import Synchronization
import Testing

@Suite struct SharedReferenceTests {
  /// A value that counts how many of its kind there are, and is another when it has gone.
  private final class Counted: @unchecked Sendable {
    let number: Int
    // Sendable: written when nobody else has the object.
    private(set) var isThere = true
    private let living: Living

    init(_ number: Int, _ living: Living) {
      (self.number, self.living) = (number, living)
      living.count.add(1, ordering: .relaxed)
    }

    deinit {
      isThere = false
      living.count.subtract(1, ordering: .relaxed)
    }
  }

  private final class Living: Sendable {
    let count = Atomic(0)
    var value: Int { count.load(ordering: .acquiring) }
  }

  /// Keeps a reference that cannot be copied.
  private final class Holder: Sendable {
    let reference = SharedReference<Counted>()
  }

  @Test func whatIsReplacedGoes() {
    let living = Living()
    do {
      let holder = Holder()
      #expect(holder.reference.object?.number == nil)
      for number in 0..<10 {
        holder.reference.replace(by: Counted(number, living))
        #expect(holder.reference.object?.number == number)
      }
    }
    // What a reader on another thread has delayed goes when something else is retired.
    let other = Living()
    let holder = Holder()
    while living.value > 0 { holder.reference.replace(by: Counted(0, other)) }
    #expect(living.value == 0)
  }

  @Test func readersSeeOnlyWhatIsThereAndNeverGoBack() {
    let living = Living()
    let holder = Holder()
    let last = 20_000
    let most = Atomic(0)
    holder.reference.replace(by: Counted(0, living))
    DispatchQueue.concurrentPerform(iterations: 5) { thread in
      guard thread > 0 else {
        for number in 1...last {
          holder.reference.replace(by: Counted(number, living))
          most.max(living.value, ordering: .relaxed)
        }
        return
      }
      var seen = 0
      while seen < last {
        let borrowed = holder.reference.borrow()
        let (number, isThere) =
          borrowed?.object._withUnsafeGuaranteedRef { ($0.number, $0.isThere) } ?? (-1, false)
        borrowed?.end()
        guard isThere, number >= seen else {
          Issue.record("\(number) after \(seen), there: \(isThere)")
          return
        }
        seen = number
      }
    }
    #expect(most.load(ordering: .relaxed) <= 70)
  }

  /// Else they would take turns to be counted.
  @Test func eachThreadKeepsANumberOfItsOwn() {
    let numbers = Mutex<[UInt32]>([])
    let end = DispatchSemaphore(value: 0)
    for _ in 0..<8 {
      Thread.detachNewThread {
        let number = keepsake_thread_number()
        numbers.withLock { $0 += number == keepsake_thread_number() ? [number] : [] }
        end.signal()
      }
    }
    for _ in 0..<8 { end.wait() }
    #expect(Set(numbers.withLock { $0 }).subtracting([0]).count == 8)
  }
}

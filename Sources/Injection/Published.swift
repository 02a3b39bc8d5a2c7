// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// An object that many threads read without a lock.
///
/// A reader takes the address first and counts itself afterwards; in between nothing else may keep
/// the object. Hence whatever was published lives as long as this does, and only `limit` objects
/// are ever accepted. After that there is no value, and readers take the lock they would avoid.
final class Published<Object: AnyObject & Sendable>: Sendable {
  private let latest = Atomic<Unmanaged<Object>?>(nil)
  private let accepted = Mutex<[Object]>([])
  private let limit: Int

  init(limit: Int = 1) { self.limit = limit }

  var value: Object? { read { $0 } }

  /// Reads without counting, for what is read most.
  func read<R>(_ body: (Object) -> R?) -> R? {
    latest.load(ordering: .acquiring)?._withUnsafeGuaranteedRef(body)
  }

  func publish(_ make: @autoclosure () -> Object) {
    accepted.withLock { accepted in
      guard accepted.count < limit else { return }
      let object = make()
      accepted.append(object)
      latest.store(.passUnretained(object), ordering: .releasing)
    }
  }

  func withdraw() {
    latest.store(nil, ordering: .releasing)
  }
}

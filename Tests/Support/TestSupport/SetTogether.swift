// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import Synchronization

extension Device {
  /// Runs each body, which sets once, on a thread of its own, so that the sets share a commit: they
  /// come in this order while the connection is taken.
  ///
  /// - Parameter body: runs when all wait, with the connection.
  /// - Returns: how each has ended.
  package func together(
    _ sets: [@Sendable () throws -> Void], _ body: () throws -> Void = {}
  ) throws -> [Result<Void, any Error>] {
    let threads = SettingThreads(sets)
    try tables.access { _ in
      for number in sets.indices {
        threads.start(number)
        while setsUnderWay + threads.ended <= number { sched_yield() }
      }
      try body()
    }
    return threads.results()
  }
}

/// Threads that keep nothing of what they ran once they have ended, such as the device.
private final class SettingThreads: Sendable {
  private let bodies: Mutex<[(@Sendable () throws -> Void)?]>
  private let all = Mutex<[Int: Result<Void, any Error>]>([:])
  private let group = DispatchGroup()

  init(_ bodies: [@Sendable () throws -> Void]) { self.bodies = Mutex(bodies) }

  var ended: Int { all.withLock(\.count) }

  func start(_ number: Int) {
    group.enter()
    Thread.detachNewThread { [self] in
      run(number)
      group.leave()
    }
  }

  private func run(_ number: Int) {
    let body = bodies.withLock { bodies in
      defer { bodies[number] = nil }
      return bodies[number]
    }
    let result = Result { try body?() ?? () }
    all.withLock { $0[number] = result }
  }

  /// Waits for all.
  func results() -> [Result<Void, any Error>] {
    group.wait()
    return all.withLock { all in all.keys.sorted().compactMap { all[$0] } }
  }
}

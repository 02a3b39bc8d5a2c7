// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Container {
  /// Validates, then makes every singleton: first the asynchronous ones, then the others, in
  /// registration order. After that each of them is a plain synchronous read.
  ///
  /// - Throws: What `validate()` or a factory throws; `start()` can then be called again.
  public func start() async throws {
    try validate()
    for (container, owner) in lineage.reversed() {
      let singletons = container.registrations.entries.filter { $0.scope == .singleton }
      for entry in singletons.filter(\.isAsync) + singletons.filter({ !$0.isAsync }) {
        try await Pending.settling { _ = try await entry.resolve(owner, owner) }
      }
    }
    gate.open()
  }

  /// Returns when `start()` has finished, at once when it had.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  public func ready() async throws {
    try await gate.pass()
  }
}

/// Lets tasks wait until it is opened, once and for all.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var next = 0
    var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  }

  private let state = Mutex(State())

  func open() {
    let waiting = state.withLock { state in
      defer { (state.isOpen, state.waiting) = (true, [:]) }
      return state.waiting
    }
    waiting.values.forEach { $0.resume() }
  }

  func pass() async throws {
    let ticket = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Result<Void, any Error>? = state.withLock { state in
          if state.isOpen { return .success(()) }
          // A cancellation before this line found no ticket to cancel.
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiting[ticket] = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let waiting = state.withLock { $0.waiting.removeValue(forKey: ticket) }
      waiting?.resume(throwing: CancellationError())
    }
  }
}

/// Work that stops at an asynchronous object that is not made yet: makes it and tries again.
enum Pending {
  static func settling<R>(
    _ awaiting: [String] = [], _ body: () async throws -> R
  ) async throws -> R {
    var settled: Set<String> = []
    while true {
      do {
        return try await body()
      } catch let error as InjectionError {
        guard let prepare = error.prepare, settled.insert(error.key).inserted else { throw error }
        let path = awaiting + [error.key]
        if awaiting.contains(error.key) { throw InjectionError.circular(path) }
        try await settling(path, prepare)
      }
    }
  }
}

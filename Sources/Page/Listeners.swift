// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeValues
  import Synchronization

  /// Who hears of changes: the pages that are open.
  final class Listeners: Sendable {
    private struct State {
      /// Of the last event. A page that misses one sees it by this, and reads again.
      var number: Int64 = 0
      var id = 0
      var all: [Int: AsyncStream<String>.Continuation] = [:]
      var isEnded = false
    }

    /// Held while an event is put into the streams, which wait for no listener.
    private let state = Mutex(State())

    func tell(_ members: [JSON.Member]) {
      state.withLock { state in
        state.number += 1
        let number = JSON.Member("number", .integer(state.number))
        let text = JSON.object([number] + members).text()
        for listener in state.all.values { listener.yield(text) }
      }
    }

    /// Events from now on, until `end` is called with the number, or for all.
    func listen() -> (id: Int, events: AsyncStream<String>) {
      let (events, continuation) = AsyncStream.makeStream(
        of: String.self, bufferingPolicy: .bufferingNewest(64))
      return state.withLock { state in
        state.id += 1
        state.all[state.id] = continuation
        let hello: JSON = .object(["number": .integer(state.number)])
        continuation.yield(hello.text())
        if state.isEnded { continuation.finish() }
        return (state.id, events)
      }
    }

    func end(_ id: Int) {
      state.withLock { $0.all.removeValue(forKey: id) }?.finish()
    }

    func endAll() {
      let all = state.withLock { state in
        state.isEnded = true
        return Array(state.all.values)
      }
      for listener in all { listener.finish() }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeValues
  import Synchronization

  /// The event streams of the pages that are open.
  final class EventStreams: Sendable {
    private struct OpenStreams {
      /// The number of the last event. A page that misses one sees a gap, and reads again.
      var number: Int64 = 0
      var id = 0
      var all: [Int: AsyncStream<String>.Continuation] = [:]
      var isClosed = false
    }

    /// Held while an event is added to the streams, which does not block.
    private let state = Mutex(OpenStreams())

    func send(_ members: [JSON.Member]) {
      state.withLock { state in
        state.number += 1
        let number = JSON.Member("number", .integer(state.number))
        let text = JSON.object([number] + members).text()
        for listener in state.all.values { listener.yield(text) }
      }
    }

    /// Opens a stream of events, until it or all are closed.
    func open() -> (id: Int, events: AsyncStream<String>) {
      let (events, continuation) = AsyncStream.makeStream(
        of: String.self, bufferingPolicy: .bufferingNewest(64))
      return state.withLock { state in
        state.id += 1
        state.all[state.id] = continuation
        let hello: JSON = .object(["number": .integer(state.number)])
        continuation.yield(hello.text())
        if state.isClosed { continuation.finish() }
        return (state.id, events)
      }
    }

    func close(_ id: Int) {
      state.withLock { $0.all.removeValue(forKey: id) }?.finish()
    }

    func closeAll() {
      let all = state.withLock { state in
        state.isClosed = true
        return Array(state.all.values)
      }
      for listener in all { listener.finish() }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
package import KeepsakeHub
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeValues
import Synchronization

/// Answers requests as a test says, without a network.
package final class ScriptedTransport: HubTransport {
  /// What comes back, until a fault ends it.
  package struct Reply: Sendable {
    package var events: [TransportEvent]
    package var fault: TransportFault?

    package init(_ events: [TransportEvent], fault: TransportFault? = nil) {
      (self.events, self.fault) = (events, fault)
    }

    package init(
      _ status: Int, _ body: String, type: String? = nil, _ headers: [String: String] = [:]
    ) {
      var headers = headers
      headers["content-type"] = type
      events = [.head(status: status, headers: headers), .body(Array(body.utf8)), .end]
    }

    /// An error of the protocol.
    package static func error(
      _ status: Int, _ code: String, _ problem: String, _ headers: [String: String] = [:]
    ) -> Reply {
      Reply(
        status, #"{"error":"\#(code)","problem":"\#(problem)","cure":"none"}"#,
        type: "application/json; charset=utf-8", headers)
    }
  }

  private final class Exchange: TransportExchange {
    private let reply: Mutex<Reply>

    init(_ reply: Reply) { self.reply = Mutex(reply) }

    func next(within patience: Duration) throws(TransportFault) -> TransportEvent {
      let next = reply.withLock { reply -> Result<TransportEvent, TransportFault> in
        guard reply.events.isEmpty else { return .success(reply.events.removeFirst()) }
        return .failure(reply.fault ?? .silent)
      }
      return try next.get()
    }

    func cancel() { reply.withLock { $0 = Reply([], fault: .cancelled) } }
  }

  private let script: @Sendable (TransportRequest) -> Reply
  private let log = Mutex<[TransportRequest]>([])

  package init(_ script: @escaping @Sendable (TransportRequest) -> Reply) { self.script = script }

  package var requests: [TransportRequest] { log.withLock { $0 } }

  package func begin(_ request: TransportRequest) -> any TransportExchange {
    log.withLock { $0.append(request) }
    return Exchange(script(request))
  }
}

extension Hub {
  package static let token = String(repeating: "t", count: 43)

  /// One that answers so.
  ///
  /// - Parameter pause: gets how long somebody would wait.
  package static func scripted(
    pause: @escaping @Sendable (Duration) -> Void = { _ in },
    _ script: @escaping @Sendable (TransportRequest) -> ScriptedTransport.Reply
  ) throws -> (hub: Hub, transport: ScriptedTransport) {
    let transport = ScriptedTransport(script)
    let hub = try Hub(
      HubURL("https://hub.example/keep"), token: token, by: transport, pause: pause)
    return (hub, transport)
  }
}

/// The rules of a hub behind a transport. One request at a time.
package final class ServedHub: Sendable {
  private let hub: Mutex<Box>

  // Sendable: only within the lock.
  private struct Box: @unchecked Sendable { let hub: MemoryHub }

  package init() { hub = Mutex(Box(hub: MemoryHub(ReplicaID(rawValue: 9)))) }

  package func answer(_ request: TransportRequest, at time: Int64) -> ScriptedTransport.Reply {
    do {
      let asked = try (request.body ?? []).withUnsafeBufferPointer { try HubRequest($0) }
      switch try hub.withLock({ try $0.hub.answer(asked, at: time) }) {
      case .success(let answer):
        return ScriptedTransport.Reply(
          200, String(decoding: try answer.text(), as: UTF8.self), type: "application/jsonl")
      case .failure(let refusal): return .error(409, "\(refusal)", "it is so")
      }
    } catch {
      return .error(400, "malformed", "\(error)")
    }
  }
}

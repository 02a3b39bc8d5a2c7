// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
package import KeepsakeHub
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
    ///
    /// - Parameter more: members, each with a comma before it.
    package static func problem(
      _ status: Int, _ type: String, _ detail: String, _ headers: [String: String] = [:],
      more: String = ""
    ) -> Reply {
      Reply(
        status,
        #"{"type":"urn:keepsake:hub:\#(type)","status":\#(status),"detail":"\#(detail)"\#(more)}"#,
        type: "application/problem+json; charset=utf-8", headers)
    }
  }

  private final class Exchange: TransportExchange {
    private let reply: Mutex<Reply>
    private let onWait: @Sendable (Duration) -> Void

    init(_ reply: Reply, onWait: @escaping @Sendable (Duration) -> Void) {
      self.reply = Mutex(reply)
      self.onWait = onWait
    }

    func next(within limit: Duration) throws(TransportFault) -> TransportEvent {
      onWait(limit)
      let next = reply.withLock { reply -> Result<TransportEvent, TransportFault> in
        guard reply.events.isEmpty else { return .success(reply.events.removeFirst()) }
        return .failure(reply.fault ?? .timedOut)
      }
      return try next.get()
    }

    func cancel() { reply.withLock { $0 = Reply([], fault: .cancelled) } }
  }

  private let script: @Sendable (TransportRequest) -> Reply
  private let log = Mutex<[TransportRequest]>([])
  private let longest = Mutex(Duration.zero)

  package init(_ script: @escaping @Sendable (TransportRequest) -> Reply) { self.script = script }

  package var requests: [TransportRequest] { log.withLock { $0 } }
  /// How long a device would have waited for a piece of an answer, at most.
  package var longestWait: Duration { longest.withLock { $0 } }

  package func begin(_ request: TransportRequest) -> any TransportExchange {
    log.withLock { $0.append(request) }
    return Exchange(script(request)) { [self] wait in
      longest.withLock { $0 = max($0, wait) }
    }
  }
}

extension HubMembership {
  /// Of no account.
  package static let test = HubMembership(
    account: 7, token: String(repeating: "t", count: 43), device: nil)
}

extension Hub {
  /// One that answers so.
  ///
  /// - Parameter pause: gets how long somebody would wait.
  package static func scripted(
    _ membership: HubMembership = .test, pause: @escaping @Sendable (Duration) -> Void = { _ in },
    _ script: @escaping @Sendable (TransportRequest) -> ScriptedTransport.Reply
  ) throws -> (hub: Hub, transport: ScriptedTransport) {
    let transport = ScriptedTransport(script)
    let hub = Hub(try HubURL("https://hub.example/keep"), membership, by: transport, pause: pause)
    return (hub, transport)
  }
}

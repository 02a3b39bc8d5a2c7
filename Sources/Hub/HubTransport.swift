// SPDX-License-Identifier: Apache-2.0
//
// How requests get to a hub: one protocol, so that tests play answers that are lost, late, slow or
// hostile without a network.

package import Foundation

package protocol HubTransport: Sendable {
  /// Begins a request. What comes back is asked for piece by piece.
  func begin(_ request: TransportRequest) -> any TransportExchange
}

package protocol TransportExchange: Sendable {
  /// Waits for the next piece.
  ///
  /// - Parameter limit: how long nothing may come.
  func next(within limit: Duration) throws(TransportFault) -> TransportEvent
  /// Ends it. A thread that waits gets `.cancelled`.
  func cancel()
}

package struct TransportRequest: Sendable {
  package var method: String
  package var url: URL
  package var headers: [String: String]
  package var body: [UInt8]?
}

package enum TransportEvent: Sendable {
  /// - Parameter headers: by names in small letters.
  case head(status: Int, headers: [String: String])
  case body([UInt8])
  case end
}

package enum TransportFault: Error, Equatable {
  /// Nothing came for as long as its caller would wait.
  case silent
  case cancelled
  /// Why it failed, in the words of the system.
  case failed(String)
}

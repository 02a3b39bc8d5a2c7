// SPDX-License-Identifier: Apache-2.0
//
// Transports requests to a hub. Tests implement the protocol, to simulate lost, late, slow and
// hostile answers without a network.

package import Foundation

package protocol HubTransport: Sendable {
  /// Begins a request. The caller reads the answer from the exchange, piece by piece.
  func begin(_ request: TransportRequest) -> any TransportExchange
}

package protocol TransportExchange: Sendable {
  /// Waits for the next piece.
  ///
  /// - Parameter limit: the maximum time to wait.
  func next(within limit: Duration) throws(TransportFault) -> TransportEvent
  /// Ends the exchange. A waiting thread gets `.cancelled`.
  func cancel()
}

package struct TransportRequest: Sendable {
  package var method: String
  package var url: URL
  package var headers: [String: String]
  package var body: [UInt8]?
}

package enum TransportEvent: Sendable {
  /// - Parameter headers: by lowercase names.
  case head(status: Int, headers: [String: String])
  case body([UInt8])
  case end
}

package enum TransportFault: Error, Equatable {
  /// Nothing arrived within the caller's limit.
  case timedOut
  case cancelled
  /// The system's description of the failure.
  case failed(String)
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import KeepsakeHubServer
package import KeepsakeSync
import KeepsakeValues
import Synchronization

/// A hub without accounts at first, which answers what `Pusher`s ask.
package protocol AnsweringHub: Sendable {
  /// Makes the accounts from 1 on.
  func addAccounts(_ count: Int) throws
  func ask(
    _ account: Int64, _ request: HubRequest,
    _ done: @escaping @Sendable (Result<HubAnswer, any Error>) -> Void)
}

extension AnsweringHub {
  package func ask(_ account: Int64, _ request: HubRequest) throws -> HubAnswer {
    try wait { self.ask(account, request, $0) }
  }

  fileprivate func wait<Value: Sendable>(
    _ submit: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) throws -> Value {
    let (end, box) = (DispatchSemaphore(value: 0), Box<Value>())
    submit { result in
      box.result.withLock { $0 = result }
      end.signal()
    }
    end.wait()
    guard let result = box.result.withLock(\.self) else { throw Failure("there is no result") }
    return try result.get()
  }
}

/// A hub's database, asked without a network.
package struct AnsweringDatabase: AnsweringHub {
  private let database: any HubDatabase
  /// Milliseconds since 1970 by the hub's clock in all of this.
  private static let now: Int64 = 1_000_000_000

  package init(_ database: any HubDatabase) { self.database = database }

  package func ask(
    _ account: Int64, _ request: HubRequest,
    _ done: @escaping @Sendable (Result<HubAnswer, any Error>) -> Void
  ) {
    database.submit(on: account, { try HubRules.answer(request, $0, at: Self.now) }, done)
  }

  package func addAccounts(_ count: Int) throws {
    try wait { done in
      database.submit(
        { directory in
          for number in 1...count {
            let account = HubAccount(hub: ReplicaID(rawValue: Int64(number)))
            _ = try directory.addAccount(account, at: 0)
          }
        }, done)
    }
  }
}

private final class Box<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, any Error>?>(nil)
}

package struct Failure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeepsakeValues
import Synchronization

/// Collects the change sets that an observer hears.
public final class Heard: Sendable {
  private let all = Mutex<[[Change]]>([])
  private let news = DispatchSemaphore(value: 0)

  public init() {}

  public var sets: [[Change]] { all.withLock { $0 } }

  public func append(_ changes: [Change]) {
    all.withLock { $0.append(changes) }
    news.signal()
  }

  /// Waits until enough was heard.
  ///
  /// - Returns: false when that takes longer than a loaded machine may need.
  public func wait(until isEnough: ([Change]) -> Bool) -> Bool {
    let limit = DispatchTime.now() + .seconds(30)
    while !isEnough(sets.flatMap { $0 }) {
      guard news.wait(timeout: limit) == .success else { return false }
    }
    return true
  }
}

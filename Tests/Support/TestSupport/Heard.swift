// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeepsakeValues
import Synchronization

/// Collects the change sets that an observer hears.
public typealias Heard = Collected<SettingChange>

/// Collects what an observer hears, on whatever thread.
public final class Collected<Element: Sendable>: Sendable {
  private let all = Mutex<[[Element]]>([])
  private let news = DispatchSemaphore(value: 0)

  public init() {}

  public var sets: [[Element]] { all.withLock { $0 } }

  public func append(_ elements: [Element]) {
    all.withLock { $0.append(elements) }
    news.signal()
  }

  /// Waits until enough was heard.
  ///
  /// - Returns: false when that takes longer than a loaded machine may need.
  public func wait(until isEnough: ([Element]) -> Bool) -> Bool {
    let limit = DispatchTime.now() + .seconds(30)
    while !isEnough(sets.flatMap { $0 }) {
      guard news.wait(timeout: limit) == .success else { return false }
    }
    return true
  }
}

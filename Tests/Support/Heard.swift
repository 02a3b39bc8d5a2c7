// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues
import Synchronization

/// Collects the change sets that an observer hears.
public final class Heard: Sendable {
  private let all = Mutex<[[Change]]>([])

  public init() {}

  public var sets: [[Change]] { all.withLock { $0 } }
  public func append(_ changes: [Change]) { all.withLock { $0.append(changes) } }
}

// SPDX-License-Identifier: Apache-2.0
//
// What was read before a commit need not be read again after it, unless the commit changed it. The
// last commits of this process are known, each as a step from one version of the file to the next.
// Another process's commit is no step: after it everything is read again.

package import KeepsakeStorage
package import KeepsakeValues
import Synchronization

/// Which keys the last commits of this process have changed.
package final class CommitTrail: Sendable {
  /// Steps that are kept.
  private static let limit = 32
  /// Keys that one may have changed: as many as sets share a commit.
  private static let mostKeys = SetQueue.most

  private struct Step {
    let before, after: ReadVersion
    /// In whatever store.
    let keys: [ByteText]
  }

  /// Each begins where the one before it ends.
  private let steps = Mutex<[Step]>([])

  /// Notes a commit.
  ///
  /// - Parameter changes: all that it has changed of what a store can read.
  func add(from before: ReadVersion, to after: ReadVersion, _ changes: [SettingChange]) {
    guard changes.count <= Self.mostKeys else { return }
    let step = Step(before: before, after: after, keys: changes.map { ByteText($0.key) })
    steps.withLock { steps in
      if steps.last?.after != before { steps.removeAll(keepingCapacity: true) }
      if steps.count == Self.limit { steps.removeFirst() }
      steps.append(step)
    }
  }

  /// The keys that were changed between two versions; nil where that is not known.
  package func keys(from old: ReadVersion, to new: ReadVersion) -> [ByteText]? {
    steps.withLock { steps in
      guard steps.last?.after == new, let first = steps.lastIndex(where: { $0.before == old })
      else { return nil }
      return steps[first...].flatMap(\.keys)
    }
  }
}

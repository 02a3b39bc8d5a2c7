// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeSync
import Synchronization

/// One line on a terminal that shows how far a merge has come; it is gone when the merge is over.
final class ProgressLine: Sendable {
  private struct State {
    /// The direction that is shown, and since when.
    var direction: [Int] = []
    var start = ContinuousClock.now
    var last = ContinuousClock.now
    var isShown = false
  }

  private let paths: [String]
  private let state = Mutex(State())

  /// - Returns: nil where standard error is no terminal.
  init?(_ paths: [String], _ output: Output) {
    guard !output.isQuiet, isatty(STDERR_FILENO) == 1 else { return nil }
    self.paths = paths
  }

  /// What fits into one transaction is over before a person could read the line.
  func show(_ progress: MergeProgress) {
    state.withLock { state in
      let direction = [progress.from, progress.into]
      if state.direction != direction {
        (state.direction, state.start) = (direction, state.last)
      }
      state.last = .now
      guard progress.fraction < 1 else { return }
      let text = Self.text(
        progress, from: paths[progress.from], into: paths[progress.into],
        after: state.start.duration(to: .now))
      Output.standardError("\r\u{1B}[K" + text)
      state.isShown = true
    }
  }

  func clear() {
    state.withLock { state in
      if state.isShown { Output.standardError("\r\u{1B}[K") }
      state.isShown = false
    }
  }

  /// - Parameter time: since the direction began.
  private static func text(
    _ progress: MergeProgress, from: String, into: String, after time: Duration
  ) -> String {
    let seconds = max(time / .seconds(1), 1e-3)
    var parts = [
      "\(progress.received) entries", "\(Int(progress.fraction * 100)) %",
      "\(Int(Double(progress.received) / seconds)) a second",
    ]
    if progress.fraction > 0 {
      let left = seconds / progress.fraction - seconds
      parts.append("\(Int(left.rounded(.up))) s left")
    }
    return "\(Shown.name(from)) -> \(Shown.name(into)): " + parts.joined(separator: ", ")
  }
}

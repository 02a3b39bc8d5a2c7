// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeSync
import Synchronization

/// One line on a terminal that shows the progress of a command. It appears after half a second, and
/// disappears when the command prints anything or ends.
package enum ProgressLine {
  private struct Count {
    let done: Int
    let total: Int?
    let unit: String
  }

  private struct ProgressState {
    /// The command; nil while there is no line.
    var name: String?
    var start = ContinuousClock.now
    var isShown = false
    var count: Count?
    /// In place of the elapsed time.
    var text: String?
  }

  private static let state = Mutex(ProgressState())
  private static let pause = DispatchTimeInterval.milliseconds(200)

  /// Begins the line of a command, unless standard error is no terminal that can erase it.
  package static func begin(_ name: String, _ output: Output) {
    guard !output.isQuiet, Terminal.hasProgress else { return }
    state.withLock { $0.name = name }
    draw(after: .milliseconds(500))
  }

  /// Sets how much is done; cheap enough for each of a million rows.
  package static func count(_ done: Int, of total: Int? = nil, _ unit: String) {
    state.withLock { $0.count = Count(done: done, total: total, unit: unit) }
  }

  /// Shows a text, at once.
  package static func show(_ text: String) {
    state.withLock { state in
      state.text = text
      draw(&state)
    }
  }

  /// Erases the line for good.
  package static func end() {
    state.withLock { state in
      state.name = nil
      if state.isShown { write("\r\u{1B}[K") }
      state.isShown = false
    }
  }

  private static func draw(after time: DispatchTimeInterval) {
    DispatchQueue.global().asyncAfter(deadline: .now() + time) {
      if state.withLock({ draw(&$0) }) { draw(after: pause) }
    }
  }

  /// - Returns: whether there is a line.
  @discardableResult
  private static func draw(_ state: inout ProgressState) -> Bool {
    guard let name = state.name else { return false }
    var parts: [String] = []
    if let count = state.count {
      let total = count.total.map { " of \($0.grouped)" } ?? ""
      parts.append("\(count.done.grouped)\(total) \(count.unit)")
    }
    let seconds = state.start.duration(to: .now).components.seconds
    parts.append(state.text ?? "\(seconds) s")
    let text = "kvsync \(name): " + parts.joined(separator: ", ")
    // In the last column some terminals would begin a new line.
    write("\r\u{1B}[K" + text.onOneLine.fitted(to: Terminal.columns - 1))
    state.isShown = true
    return true
  }

  /// A line that cannot be written is no failure of the command.
  private static func write(_ text: String) {
    Result { try FileHandle.standardError.write(contentsOf: Data(text.utf8)) }.discardFailure()
  }
}

extension ProgressLine {
  /// Shows the progress of a merge, unless it fits into one transaction: that ends before a person
  /// could read the line.
  ///
  /// - Parameter paths: of the merged files.
  package static func show(_ progress: MergeProgress, of paths: [String]) {
    guard progress.fraction < 1 else { return }
    show(
      "\(Int(progress.fraction * 100)) %, \(progress.received.grouped) entries, "
        + "\(paths[progress.from].quotedIfNeeded) -> \(paths[progress.into].quotedIfNeeded)")
  }
}

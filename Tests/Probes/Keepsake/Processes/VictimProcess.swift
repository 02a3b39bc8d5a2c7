// SPDX-License-Identifier: Apache-2.0

import Faults
import Foundation

/// A process that is to be killed.
struct VictimProcess {
  let program: String
  let arguments: [String]
  /// Whether it prints a sign when its work begins. The work of others begins at their start.
  var givesSigns = true

  /// How it ended.
  struct End {
    var acknowledged = 0
    /// The same for each thread of the work `threads`.
    var byThread: [Int] = []
    /// Whether it was killed before its work was done.
    var isInside = false
    /// From the beginning of its work to the end of the process.
    var duration: Duration
  }

  /// Starts it, and returns when it has ended.
  ///
  /// - Parameter life: the time from the beginning of its work to the kill; nil for no kill.
  /// - Throws: `Complaint` when it ends in any other way.
  func run(life: Duration?) throws -> End {
    let (process, output, complaints) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = complaints
    try process.run()
    var watch = Watch(process.processIdentifier, output.fileHandleForReading.fileDescriptor, life)
    if !givesSigns { watch.begin() }
    while watch.hasMore() {}
    let text = String(
      decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let isKilled = process.terminationReason == .uncaughtSignal
    let isWell = isKilled ? process.terminationStatus == SIGKILL : process.terminationStatus == 0
    try demand(isWell, "\(arguments) ends by \(process.terminationStatus): \(text)")
    return End(
      acknowledged: watch.acknowledged, byThread: watch.byThread,
      isInside: isKilled && !watch.hasEnded, duration: watch.duration)
  }
}

/// Reads the signs of a victim, and kills it at its time.
private struct Watch {
  private let id: Int32
  private let output: Int32
  private let life: Duration?
  private var start = ContinuousClock.now
  private var death: ContinuousClock.Instant?
  private(set) var acknowledged = 0
  private(set) var byThread = Array(repeating: 0, count: ThreadSteps.threads)
  private(set) var hasEnded = false
  private(set) var duration = Duration.zero

  init(_ id: Int32, _ output: Int32, _ life: Duration?) {
    (self.id, self.output, self.life) = (id, output, life)
  }

  mutating func begin() {
    start = .now
    death = life.map { start + $0 }
  }

  /// - Returns: false when it has ended.
  mutating func hasMore() -> Bool {
    var polled = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    let left = death.map { ContinuousClock.now.duration(to: $0) / .microseconds(1) }
    // poll(2) counts milliseconds, so usleep waits for the last one.
    let count = poll(&polled, 1, left.map { Int32(max($0, 0) / 1000) } ?? -1)
    if count == 0, let left, death != nil {
      if left < 1000 {
        usleep(UInt32(max(left, 0)))
        kill(id, SIGKILL)
        death = nil
      }
      return true
    }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let size = read(output, &bytes, bytes.count)
    guard size > 0 else {
      duration = start.duration(to: .now)
      return false
    }
    for byte in bytes[..<size] {
      switch VictimSign(rawValue: byte) {
      case .begin: begin()
      case .acknowledgement: acknowledged += 1
      case .end: hasEnded = true
      case nil:
        guard byThread.indices.contains(Int(byte)) else { break }
        byThread[Int(byte)] += 1
        acknowledged += 1
      }
    }
    return true
  }
}

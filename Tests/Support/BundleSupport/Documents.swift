// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeSettingsBundle
import KeepsakeValues
package import Testing

/// A node as one line, every kind with a spelling of its own.
package func spelled(_ node: PropertyListNode) -> String {
  switch node.value {
  case .string(let text): "\"\(text.debugBytes)\""
  case .integer(let number): "i\(number)"
  case .unsigned(let number): "u\(number)"
  case .real(let number): "r\(number)"
  case .boolean(let flag): "\(flag)"
  case .date(let date): "t" + spelled(date.timeIntervalSinceReferenceDate + 978_307_200)
  case .data(let bytes): "d" + bytes.map { String(format: "%02x", $0) }.joined()
  case .array(let elements): "[" + elements.map(spelled).joined(separator: " ") + "]"
  case .dictionary(let members):
    "{" + members.map { "\($0.key.debugBytes):\(spelled($0.value))" }.joined(separator: " ") + "}"
  }
}

/// Whole seconds without a fraction.
private func spelled(_ seconds: Double) -> String {
  Int64(exactly: seconds).map(String.init) ?? "\(seconds)"
}

extension String {
  /// Line breaks and tabs made visible; the rest as it is.
  package var debugBytes: String {
    unicodeScalars.map { $0.value < 0x20 ? "\\u{\(String($0.value, radix: 16))}" : String($0) }
      .joined()
  }
}

/// One value in the usual wrapping; the value starts at line 3, column 1.
package func document(_ value: String) -> String {
  """
  <?xml version="1.0" encoding="UTF-8"?>
  <plist version="1.0">
  \(value)
  </plist>
  """
}

package func parse(
  _ text: String, limits: PropertyListLimits = PropertyListLimits()
) throws(PropertyListError) -> PropertyListNode {
  try PropertyList.parse(Array(text.utf8), file: "test.plist", limits: limits).root
}

/// `line:column code` of the refusal, or `accepted`.
package func refusal(_ bytes: [UInt8], limits: PropertyListLimits = PropertyListLimits()) -> String
{
  do throws(PropertyListError) {
    _ = try PropertyList.parse(bytes, file: "test.plist", limits: limits)
    return "accepted"
  } catch {
    return "\(error.position.map { "\($0)" } ?? "-") \(error.code.rawValue)"
  }
}

package func refusal(_ text: String, limits: PropertyListLimits = PropertyListLimits()) -> String {
  refusal(Array(text.utf8), limits: limits)
}

// MARK: - Chance

/// SplitMix64: the same numbers for the same seed on every platform.
package struct Chance: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  /// How many rounds a random test runs: `KEEPSAKE_FACTOR` times as many where that is set.
  package static func rounds(_ count: Int) -> Range<Int> {
    0..<count * (ProcessInfo.processInfo.environment["KEEPSAKE_FACTOR"].flatMap { Int($0) } ?? 1)
  }

  /// From `KEEPSAKE_SEED`, else new each time; failure messages have to name it.
  package static var seed: UInt64 {
    ProcessInfo.processInfo.environment["KEEPSAKE_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 1...UInt64.max)
  }
}

// MARK: - Work

/// Processor time of this thread, whatever else the machine does: a tenth of what takes minutes.
package func expectLittleWork(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws {
  func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
  let start = seconds()
  try body()
  #expect(seconds() - start < 20, sourceLocation: sourceLocation)
}

// MARK: - Folders

/// A folder that goes away with its test.
package final class TemporaryFolder {
  package let path: String

  package init() throws {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("settings-bundle-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record("could not remove \(path): \(error)")
    }
  }

  @discardableResult package func write(_ text: String, to file: String) throws -> String {
    let url = URL(fileURLWithPath: path).appendingPathComponent(file)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    return url.path
  }

  package func link(_ file: String, to target: String) throws {
    let link = URL(fileURLWithPath: path).appendingPathComponent(file).path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
  }
}

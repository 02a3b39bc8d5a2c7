// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeSettingsBundle
import KeepsakeValues
package import TestSupport
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

extension SeededGenerator {
  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
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

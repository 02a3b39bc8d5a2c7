// SPDX-License-Identifier: Apache-2.0

/// A reader of bytes that anybody may have written.
package enum FuzzTarget: String, CaseIterable, Sendable {
  case plist, json, lines
  #if canImport(KeepsakeHub)
    case wire
  #endif

  /// Reads the bytes, and looks for what must not be: besides what traps or does not end, an answer
  /// that contradicts another one.
  package func take(_ bytes: [UInt8]) throws(Finding) {
    switch self {
    case .plist: try readPropertyList(bytes)
    case .json: try readJSON(bytes)
    case .lines: try readLines(bytes)
    #if canImport(KeepsakeHub)
      case .wire: try readWire(bytes)
    #endif
    }
  }
}

/// What must not be.
package struct Finding: Error, CustomStringConvertible {
  package let description: String
}

/// Throws unless `condition` holds.
func demand(_ condition: Bool, _ description: @autoclosure () -> String) throws(Finding) {
  if !condition { throw Finding(description: description()) }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeFormats
import KeepsakeSettingsBundle

/// Holds the parser and the writer to each other: what is accepted has to come back. Only a binary
/// list has values that the writer refuses, and dates that it rounds down to seconds.
func readPropertyList(_ bytes: [UInt8]) throws(Finding) {
  let root: PropertyListNode
  do {
    root = try PropertyList.parse(bytes, file: "fuzz.plist").root
  } catch {
    // UTF-8 may need three bytes for two of UTF-16.
    let isInside = error.position.map { $0.offset <= 2 * bytes.count } ?? true
    return try demand(isInside, "a place outside of the file: \(error)")
  }
  guard let value = root.ifStorable else { return }
  do {
    let once = try PropertyList.write(value)
    let again = try PropertyList.parse(once, file: "written.plist").root
    let twice = try PropertyList.write(again.storedValue())
    guard once == twice else { throw Finding(description: "the second text differs") }
    try demand(isSame(again, root), "what is written is another value: \(again.value)")
  } catch let finding as Finding {
    throw finding
  } catch {
    try demand(PropertyList.isBinary(bytes), "what was accepted is refused: \(error)")
  }
}

/// Whether one tree is what another one becomes when it is written.
private func isSame(_ a: PropertyListNode, _ b: PropertyListNode) -> Bool {
  switch (a.value, b.value) {
  case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
  case (.integer(let a), .integer(let b)): a == b
  case (.unsigned(let a), .unsigned(let b)): a == b
  case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
  case (.boolean(let a), .boolean(let b)): a == b
  case (.date(let a), .date(let b)):
    a.timeIntervalSinceReferenceDate == b.timeIntervalSinceReferenceDate.rounded(.down)
  case (.data(let a), .data(let b)): a == b
  case (.array(let a), .array(let b)): a.elementsEqual(b, by: isSame)
  case (.dictionary(let a), .dictionary(let b)):
    sorted(a).elementsEqual(sorted(b)) {
      $0.key.utf8.elementsEqual($1.key.utf8) && isSame($0.value, $1.value)
    }
  default: false
  }
}

private func sorted(_ members: [PropertyListNode.Member]) -> [PropertyListNode.Member] {
  members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
}

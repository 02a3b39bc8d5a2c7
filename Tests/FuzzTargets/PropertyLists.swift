// SPDX-License-Identifier: Apache-2.0

import KeepsakeBundleTools
import KeepsakeSettingsBundle

/// Holds the parser and the writer to each other: what is accepted has to come back. Only a binary
/// list has values that the writer refuses.
func readPropertyList(_ bytes: [UInt8]) throws(Finding) {
  let root: PropertyListNode
  do {
    root = try PropertyList.parse(bytes, file: "fuzz.plist").root
  } catch {
    // UTF-8 may need three bytes for two of UTF-16.
    let isInside = error.position.map { $0.offset <= 2 * bytes.count } ?? true
    return try demand(isInside, "a place outside of the file: \(error)")
  }
  do {
    let once = try PropertyList.write(root.value)
    let again = try PropertyList.parse(once, file: "written.plist").root
    let twice = try PropertyList.write(again.value)
    guard once == twice else { throw Finding(description: "the second text differs") }
  } catch let finding as Finding {
    throw finding
  } catch {
    try demand(PropertyList.isBinary(bytes), "what was accepted is refused: \(error)")
  }
}

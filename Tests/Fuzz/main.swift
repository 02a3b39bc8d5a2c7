// SPDX-License-Identifier: Apache-2.0
//
// What libFuzzer calls with each input; `Scripts/fuzz` builds it. It looks for crashes and endless
// work, and holds the parser and the writer to each other: what is accepted has to come back. Only
// a binary list has values that the writer refuses.

import KeepsakeBundleTools
import KeepsakeSettingsBundle

/// - Returns: 0; any other value is reserved.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let root: PropertyListNode
  do {
    root = try PropertyList.parse(bytes, file: "fuzz.plist").root
  } catch {
    // UTF-8 may need three bytes for two of UTF-16.
    precondition(
      error.position.map { $0.offset <= 2 * count } ?? true, "a place outside of the file")
    return 0
  }
  do {
    let once = try PropertyList.write(root.value)
    let again = try PropertyList.parse(once, file: "written.plist").root
    let twice = try PropertyList.write(again.value)
    precondition(once == twice, "the second text differs")
  } catch where !PropertyList.isBinary(bytes) {
    preconditionFailure("what was accepted is refused: \(error)")
  } catch {
    return 0
  }
  return 0
}

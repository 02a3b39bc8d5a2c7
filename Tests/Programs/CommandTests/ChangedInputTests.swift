// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct ChangedInputTests {
  /// The import waits for the device between its two readings of the input.
  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "needs /proc"))
  func nothingOfAnInputThatChangesMeanwhileIsWritten() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v")
    let line = #"{"key":"k","type":"string","value":"new"}"# + "\n"
    try folder.write(line, to: "in")
    let locker = try Locker(folder.url("a"), ["BEGIN IMMEDIATE"])
    let importing = try RunningCommand(folder, ["import", "a", "in"])
    while try importing.openFile(endingWith: "/a-shm") == nil {}
    try folder.write("", to: "in")
    try locker.release()
    // Signal 0 is none.
    #expect(
      importing.end(0)
        == Ending(
          stderr: "kvsync: in: the file changed while it was imported; try again\n", code: 74))
    try folder.expect("get", "a", "k", prints: "v\n")
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// A reader who sees the folder through a read-only mount, as a container does, while others write.

import Foundation
import TestSupport
import Testing

@Suite struct ReadOnlyMountTests {
  private static let keys = 300

  private func lines(_ value: String) -> String {
    (0..<Self.keys).map {
      #"{"key":"key \#($0)","type":"string","value":"\#(value)"}"# + "\n"
    }.joined()
  }

  /// Each reading prints its exit code, what it says and the different values that it found.
  private static let reader = #"""
    mkdir seen && mount --bind shared seen && mount -o remount,ro,bind seen || exit 70
    for number in $(seq "$2"); do
      "$1" export seen/device > out 2> err
      echo "$? $(wc -l < out) $(sed 's/.*"value":"\(.\).*/\1/' out | sort -u | wc -l) $(cat err)"
    done
    """#
  /// Each writer opens the file, and takes the log away when it closes.
  private static let writer = """
    while [ -e going ]; do
      for value in a b; do "$1" import shared/device "$value" --quiet || exit 1; done
    done
    """

  @Test(.enabled(if: Tmpfs.isPossible, "only root can mount"))
  func aReadingBesideAWriterIsRightOrLocked() throws {
    let folder = try Folder()
    try folder.makeFolder("shared")
    for value in ["a", "b"] {
      try folder.write(lines(String(repeating: value, count: 100)), to: value)
    }
    let tool = try Command.kvsync.get()
    try folder.must("import", "shared/device", "a")
    try folder.write("", to: "going")
    let writer = try RunningCommand(
      folder, ["-c", Self.writer, "sh", tool], program: Command.find("sh"))
    let count = Seeds.rounds(50, debug: 20)
    let output = try folder.shell(
      "unshare", "-m", "sh", "-c", Self.reader, "sh", tool, "\(count)")
    let readings = output.split(separator: "\n")
    #expect(readings.count == count)
    for reading in readings {
      let isLocked = reading.hasPrefix("75 0 0 kvsync: seen/device: another program ")
      #expect(reading == "0 \(Self.keys) 1 " || isLocked, "\(reading)")
    }
    try folder.shell("rm", "going")
    // Signal 0 is none.
    #expect(writer.end(0).code == 0)
  }

  /// The reader of the export lets it go on once the file has changed.
  @Test(.enabled(if: Tmpfs.isPossible, "only root can mount"))
  func anExportBesideAWriterPrintsNothingNew() throws {
    let folder = try Folder()
    try folder.makeFolder("shared")
    for value in ["a", "b"] {
      let text = String(repeating: value, count: 1 << 20)
      let lines = (0..<6).map {
        #"{"key":"key \#($0)","type":"string","value":"\#(text)","at":0}"# + "\n"
      }
      try folder.write(lines.joined(), to: value)
    }
    let tool = try Command.kvsync.get()
    try folder.must("import", "shared/device", "a")
    let output = try folder.shell(
      "unshare", "-m", "sh", "-c",
      """
      mkdir seen && mount --bind shared seen && mount -o remount,ro,bind seen || exit 70
      { "$1" export seen/device; echo $? >code; } 2>err | {
        head -c 1; "$1" import shared/device b --quiet || exit 1; cat
      } | tr -d -c 'b\\n' | wc -lc
      cat code err
      """, "sh", tool)
    let numbers = output.split(whereSeparator: \.isWhitespace).prefix(3).compactMap { Int($0) }
    try #require(numbers.count == 3, "\(output)")
    #expect(numbers[0] < 6 && numbers[0] == numbers[1] && numbers[2] == 75, "\(output)")
    #expect(output.contains("kvsync: seen/device: another program began to write it"))
  }
}

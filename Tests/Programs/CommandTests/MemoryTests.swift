// SPDX-License-Identifier: Apache-2.0
//
// The memory of commands does not grow with the number of lines, and has a bound for one line.

import Foundation
import TestSupport
import Testing

@Suite(.serialized, AddressSpace.isPlain) struct MemoryTests {
  /// Runs a program, its output to nowhere, and prints its exit code and its peak in bytes.
  private static let measuring = """
    import os, sys
    child = os.fork()
    if child == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execv(sys.argv[1], sys.argv[1:])
    _, status, usage = os.wait4(child, 0)
    print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
    """

  private func peak(_ words: [String], in folder: Folder) throws -> Int {
    let said = try Command.run(
      Command.find("python3"), ["-c", Self.measuring, Command.kvsync.get()] + words,
      in: folder.path
    ).stdout
    let numbers = said.dropLast().split(separator: " ").compactMap { Int($0) }
    try #require(numbers.count == 2 && numbers[0] == 0, "\(words) \(said)")
    return numbers[1]
  }

  /// Imports what a script prints: the peak, and what is said.
  private func refusal(of script: String) throws -> (Int, String) {
    let folder = try Folder()
    let command = script + #" | python3 -c "$1" "$0" import a - 2>said"#
    let told = try folder.shell("sh", "-c", command, Command.kvsync.get(), Self.measuring)
    let numbers = told.dropLast().split(separator: " ").compactMap { Int($0) }
    try #require(numbers.count == 2 && numbers[0] == 65, "\(told)")
    #expect(try folder.names() == ["said"])
    return (numbers[1], try String(contentsOf: folder.url("said"), encoding: .utf8))
  }

  @Test(
    arguments: Seeds.rounds(
      [#"{"key":"k","type":"string","value":""#, "", "["], debug: [""]))
  func anInputWithoutAnEndOfLineIsRefusedInBoundedMemory(_ beginning: String) throws {
    let (peak, said) = try refusal(
      of: "(printf '\(beginning)'; head -c 110000000 /dev/zero | tr '\\0' a)")
    #expect(peak < 4 * 64 << 20)
    #expect(
      said == "kvsync: (standard input):1: this is longer than 104857600 bytes;"
        + " keep what is so large in a file of its own\n")
  }

  @Test(arguments: [["import", "b", "in"], ["export", "a"], ["export", "a", "--format", "json"]])
  func linesAreNotHeldAtOnce(_ words: [String]) throws {
    func cost(_ count: Int) throws -> Int {
      let folder = try Folder()
      // SQLite's length of a text ends at the first of these.
      let value = "\\u0000" + String(repeating: "a", count: 1 << 18)
      let lines = (0..<count).map { #"{"key":"\#($0)","type":"string","value":"\#(value)"}"# }
      try folder.write(lines.joined(separator: "\n"), to: "in")
      try folder.must("import", "a", "in")
      return try peak(words, in: folder)
    }
    let (few, many) = (try cost(4), try cost(100))
    #expect(many - few < 4 << 20, "24 MiB more took \(many - few) bytes more than \(few)")
  }

  @Test func aLineOfTooManyElementsIsRefusedInBoundedMemory() throws {
    let (peak, said) = try refusal(
      of: #"(printf '{"key":"k","type":"array","value":['; yes 0, | head -n 40000000 | tr -d '\n'"#
        + "; printf '0]}')")
    #expect(peak < 768 << 20 && said.contains("more than 9437184 values and names"), "\(said)")
  }

  @Test func aPropertyListOfTooManyElementsIsRefused() throws {
    let folder = try Folder()
    try folder.shell(
      "sh", "-c",
      """
      (printf '<plist version="1.0"><dict><key>k</key><array>'; yes '<true/>' | head -n 1000001
      printf '</array></dict></plist>') > in
      """)
    let ending = try folder.run(["import", "a", "in"])
    #expect(ending.code == 65 && ending.stderr.contains("1000000"), "\(ending)")
    #expect(try folder.names() == ["in"])
  }
}

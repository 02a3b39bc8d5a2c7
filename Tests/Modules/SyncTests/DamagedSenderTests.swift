// SPDX-License-Identifier: Apache-2.0
//
// SQLite does not say which of two attached files is damaged; a merge that checks neither first
// names the right one.

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct DamagedSenderTests {
  private func write(_ path: String, _ prefix: String) throws {
    let value = StoredValue.string(String(repeating: "x", count: 100))
    try Device(path: path).write(
      (0..<200).map { LocalWrite(store: "cloud", key: "\(prefix)\($0)", value: value) })
  }

  private func merge(_ paths: [String]) throws {
    let devices = try paths.map { try Device(path: $0) }
    _ = try Merge.run(devices, options: MergeOptions())
  }

  /// Writes over a page of the table `entry` that has new keys.
  private func damage(_ path: String) throws {
    let script = """
      import sys
      data = bytearray(open(sys.argv[1], "rb").read())
      pages = range(0, len(data), 1024)
      page = [n for n in pages if data[n] == 10 and b"new1" in data[n:n + 1024]][-1]
      data[page:page + 1024] = b"\\xff" * 1024
      open(sys.argv[1], "wb").write(data)
      """
    let ending = try Command.run(Command.find("python3"), ["-c", script, path])
    try #require(ending.code == 0, "\(ending)")
  }

  @Test(arguments: [true, false])
  func theFileThatIsDamagedIsNamed(_ isFirst: Bool) throws {
    let folder = try TemporaryFolder()
    let (good, bad) = (folder.path + "/good", folder.path + "/bad")
    for path in [good, bad] { try write(path, path == good ? "g" : "b") }
    try merge([good, bad])  // Else the first exchange checks all pages.
    try write(bad, "new")
    try damage(bad)
    let error = #expect(throws: KeepsakeError.self) {
      try merge(isFirst ? [bad, good] : [good, bad])
    }
    #expect(error?.code == .corrupt && error?.path == bad, "\(String(describing: error))")
  }
}

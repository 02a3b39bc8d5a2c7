// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct FeedFailureTests {
  /// What another process committed could not be read before a write of ours, which then has a
  /// later number; the next number that another process gives must not hide what is missing.
  @Test func whatCouldNotBeReadIsHeardLater() throws {
    let folder = try TemporaryFolder()
    let device = try Device(path: folder.path + "/device.keepsake")
    try device.write([LocalWrite(store: "cloud", key: "a", value: 0)])
    try device.write([LocalWrite(store: "cloud", key: "b", value: 0)])
    let heard = Heard()
    let failures = Collected<KeepsakeError>()
    let token = device.observe { heard.append($0) } onFailure: { failures.append([$0]) }
    func writeElsewhere(_ key: String) throws {
      try device.shell(
        """
        UPDATE entry SET value = 1,
          sequence_number = (SELECT max(sequence_number) + 1 FROM entry) WHERE key = '\(key)'
        """)
    }
    let hook = try StatementHook(device, before: "INDEXED BY entry_sequence") { $0() }
    // The thread that hears of other processes has to wait for the connection.
    try device.tables.access { _ in
      try writeElsewhere("a")
      try device.write([LocalWrite(store: "cloud", key: "ours", value: 1)])
      try writeElsewhere("b")
    }
    #expect(heard.wait { Set($0.map(\.key)).isSuperset(of: ["b", "ours"]) })
    token.cancel()
    #expect(hook.wasRun && failures.sets.count == 1)
    #expect(Set(heard.sets.flatMap { $0.map(\.key) }) == ["a", "b", "ours"])
    try hook.remove()
  }
}

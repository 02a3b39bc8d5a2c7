// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHubFile
import KeepsakeHubServer
import KeepsakeValues
import TestSupport
import Testing

/// A process that is killed by -9 in the middle of pushes.
@Suite struct HubKillTests {
  @Test(arguments: [1, 20, 300, 3_000])
  func everyPushThatWasAcknowledgedIsThere(pushes: Int) async throws {
    let folder = try HubFolder()
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: try Command.built("keepsake-hub-probe").get())
    process.arguments = ["work", folder.path, "\(pushes)"]
    process.standardOutput = output
    try process.run()
    var said = Data()
    while said.count(where: { $0 == UInt8(ascii: "\n") }) < pushes {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      said += more
    }
    kill(process.processIdentifier, SIGKILL)
    said += output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
    var acknowledged: [Int64: Int64] = [:]
    // The last line may have been cut off.
    for line in String(decoding: said, as: UTF8.self).split(separator: "\n").dropLast() {
      let numbers = line.split(separator: " ").compactMap { Int64($0) }
      try #require(numbers.count == 2)
      acknowledged[numbers[0]] = max(acknowledged[numbers[0]] ?? 0, numbers[1])
    }
    let file = try folder.open()
    for (account, seq) in acknowledged {
      // Each push rewrites keys, and its last row is the account's last until the next push.
      let (last, newest) = try await file.onAccount(account) { tables in
        (try tables.account.seq, try tables.lastOfEachStore()["cloud"] ?? 0)
      }
      #expect(last >= seq && newest == last, "account \(account)")
    }
    file.close()
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }
}

extension [ByteText: Int64] {
  fileprivate subscript(_ store: String) -> Int64? { self[ByteText(store)] }
}

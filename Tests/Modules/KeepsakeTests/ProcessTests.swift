// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Keepsake
import SettingsFixture
import Synchronization
import TestSupport
import Testing

/// Several real processes on one file.
@Suite(.serialized) struct ProcessTests {
  /// Runs one probe for each list of arguments, all at once.
  private func probes(_ arguments: [[String]]) throws -> [Ending] {
    let endings = Mutex<[Ending]>([])
    let failures = Mutex<[String]>([])
    let group = DispatchGroup()
    for words in arguments {
      DispatchQueue.global().async(group: group) {
        do {
          let ending = try Command.runProbe(["settings"] + words)
          endings.withLock { $0.append(ending) }
        } catch {
          let text = "\(error)"
          failures.withLock { $0.append(text) }
        }
      }
    }
    group.wait()
    #expect(failures.withLock { $0 } == [])
    return endings.withLock { $0 }
  }

  @Test func incrementsOfEightProcessesAddUp() throws {
    let device = try Device.temporary()
    let settings = try EverySetting(on: device)
    let endings = try probes(Array(repeating: ["increment", device.path, "100"], count: 8))
    #expect(endings == Array(repeating: Ending(), count: 8))
    #expect(settings.loginCount == 800)
  }

  @Test func twoProcessesThatWriteTenThousandKeysLoseNone() throws {
    let device = try Device.temporary()
    let settings = try EverySetting(on: device)
    let endings = try probes(["a", "b"].map { ["fill", device.path, $0, "5000"] })
    #expect(endings == Array(repeating: Ending(), count: 2))
    for prefix in ["a", "b"] {
      #expect((0..<5000).allSatisfy { settings["\(prefix)\($0)"] == "value" })
    }
    #expect(settings.errors.isEmpty)
  }
}

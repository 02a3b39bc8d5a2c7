// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

@Suite struct DurabilityArticle {
  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting var loginCount = 0
  }
  final class SharedSettings: SyncedSettings, @unchecked Sendable {
    @Setting var theme = "light"
  }
  struct Refused: Error {}

  @Test func durabilityIsChosen() throws {
    let device = try Device.temporary()
    let settings = try AppSettings(on: device, durability: .powerSafe)
    try settings.transaction(durability: .powerSafe) { settings.username = "ada" }
    settings.username = "bob"
    try device.synchronize()
    #expect(settings.synchronize())  // the same; a failure is false, and in failures
    #expect(settings.username == "bob")
  }

  @Test func aTransactionIsOneStep() throws {
    let device = try Device.inMemory()
    let (settings, shared) = (try AppSettings(on: device), try SharedSettings(on: device))
    let recorder = ChangeRecorder(device)
    try settings.transaction {
      settings.username = "ada"
      settings.loginCount += 1
      shared.theme = "dark"
    }
    #expect(recorder.sets.map { $0.map(\.key) } == [["username", "loginCount", "theme"]])
    try settings.transaction {
      settings.username = "eve"
      do {
        try settings.transaction {
          settings.loginCount = 100
          throw Refused()
        }
      } catch is Refused {}
    }
    #expect(settings.username == "eve" && settings.loginCount == 1)
  }

  @Test func aDeviceHasItsPlace() throws {
    let folder = try TemporaryFolder()
    try defaultPlace(in: URL(fileURLWithPath: folder.path))
  }

  private func defaultPlace(in folder: URL) throws {
    let device = try Device(identifier: "org.example.reader", in: folder)
    #expect(device.path == folder.path + "/org.example.reader/device.keepsake")
  }

  @Test func aDamagedFileIsReplacedByABackup() throws {
    let folder = try TemporaryFolder()
    let file = URL(fileURLWithPath: folder.path + "/device.keepsake")
    do {
      let device = try Device(path: file.path)
      try AppSettings(on: device).username = "ada"
      let url = URL(fileURLWithPath: file.path + ".backup-2026-11-20")
      try device.backup(to: url)  // while it is in use
      let daily = try Device.backups(of: file)
      #expect(daily.map(\.day) == ["2026-11-20"])
    }
    try Data("damaged".utf8).write(to: file)
    let aside = try Device.recover(at: file) { damage in
      damage.backups.first.map { .restore($0) } ?? .startEmpty
    }
    #expect(try Data(contentsOf: #require(aside)) == Data("damaged".utf8))
    #expect(try AppSettings(on: Device(at: file, backups: .never)).username == "ada")
  }

  @Test func aFailureIsReported() throws {
    let device = try Device.inMemory()
    let settings = try AppSettings(on: device)
    try device.whileWritesFail { settings.username = "ada" }
    let failure = settings.failures[0]
    #expect(failure.key == "username" && failure.operation == .write)
    #expect((failure.cause as? KeepsakeError)?.code == .permissionDenied)
  }
}

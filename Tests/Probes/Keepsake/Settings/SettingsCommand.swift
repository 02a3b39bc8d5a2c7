// SPDX-License-Identifier: Apache-2.0
//
// A second process with the settings of a device. Its device is open when the process ends.

import ArgumentParser
import Foundation
import Keepsake
import KeepsakeTesting
import SettingsFixture

struct SettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings", abstract: "Uses the settings of a device, and leaves it open.",
    shouldDisplay: false,
    subcommands: [Print.self, Fill.self, Mix.self, Sync.self, Short.self])

  struct Print: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints every property: its name, a tab, and its text as a Swift literal.")

    @Argument var file: String

    func run() throws {
      try withSettings(of: file) { _, settings in
        for sample in Samples.all {
          say("\(sample.name)\t\(sample.read(settings).debugDescription)")
        }
      }
    }
  }

  struct Fill: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sets the keys PREFIX0, PREFIX1 and so on.")

    @Argument var file: String
    @Argument var prefix: String
    @Argument var count: Int

    func run() throws {
      try withSettings(of: file) { _, settings in
        for number in 0..<count { try settings.write("value", for: "\(prefix)\(number)") }
      }
    }
  }

  struct Mix: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sets and removes the keys k0 to k6, COUNT times in all.")

    @Argument var file: String
    @Argument var seed: UInt64
    @Argument var count: Int

    func run() throws {
      try withSettings(of: file) { _, settings in
        var generator = SeededGenerator(seed: seed)
        for number in 0..<count {
          let key = "k\(Int.random(in: 0..<7, using: &generator))"
          let isRemoved = Int.random(in: 0..<4, using: &generator) == 0
          try settings.write(isRemoved ? nil : .string("\(seed) \(number)"), for: key)
        }
      }
    }
  }

  struct Sync: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sets keys of the cloud store within a session with another device.",
      discussion: "The end of the process cuts off the session.")

    @Argument var file: String
    @Argument var other: String
    @Argument var prefix: String
    @Argument var count: Int

    func run() throws {
      try withSettings(of: file) { device, _ in
        let session = SyncSession(device, try Device(path: other, access: .existing)) {
          say("failure\t\($0.code)")
        }
        let store = try CloudKeyValueStore(on: device)
        for number in 0..<count { try store.write("value", for: "\(prefix)\(number)") }
        withExtendedLifetime(session) {}
      }
    }
  }

  struct Short: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sets one key on the device of an application.")

    @Argument(help: "The folder of the application's device.") var folder: String

    func run() throws {
      let device = try Device(identifier: "short", in: URL(fileURLWithPath: folder))
      try UserDefaultsStore(on: device).write(1, for: "k")
      withExtendedLifetime(device) { Foundation.exit(0) }
    }
  }
}

/// Calls `use` with the settings of a file, prints their errors, and ends the process.
private func withSettings(
  of file: String, _ use: (Device, EverySetting) throws -> Void
) throws -> Never {
  let device = try Device(path: file, access: .existing)
  let settings = try EverySetting(on: device)
  try use(device, settings)
  for error in settings.failures { say("error\t\(error)") }
  withExtendedLifetime((device, settings)) { Foundation.exit(0) }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeTesting
import TestSupport
import Testing

@Suite struct SyncRecipesArticle {
  final class SharedSettings: SyncedSettings, @unchecked Sendable {
    @Setting var theme = "light"
  }

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func aBackupIsRestored() throws {
    let clock = ManualClock()
    let (laptop, phone) = (try Device.temporary(clock: clock), try Device.inMemory(clock: clock))
    let settings = try SharedSettings(on: laptop)
    let monday = URL(fileURLWithPath: folder.path + "/monday.keepsake")
    settings.theme = "dark"
    try laptop.merge(with: phone)
    try laptop.backup(to: monday)  // while it is in use
    settings.theme = "sepia"
    try laptop.merge(with: phone)
    let restored = try Device(at: monday, backups: .never)
    let report = try restored.merge(with: phone)
    #expect(report.events == [.newReplicaID(device: 0, reason: .copy)])
    #expect(try SharedSettings(on: restored).theme == "sepia")
  }

  @Test func twoFilesAreKeptMet() throws {
    let log = ArticleLog()
    let (laptop, stick) = (try Device.temporary(), try Device.temporary())
    let (here, there) = (try SharedSettings(on: laptop), try SharedSettings(on: stick))
    let heard = Heard()
    let observation = there.observe { heard.append($0) }
    let session = SyncSession(laptop, stick) { report in
      log.add("\(report.changes.count) changes")
    } onFailure: { error in
      log.add("not synced: \(error)")
    }
    here.theme = "dark"
    #expect(heard.wait { $0.contains { $0.new == "dark" } })
    session.cancel()
    observation.cancel()
    #expect(!log.lines.contains { $0.hasPrefix("not synced") })
  }

  /// In the terminal of a machine whose `ssh` and `rsync` reach folders beside it.
  private static let fleet = #"""
    #!/bin/sh -u
    exec 9>relay.lock
    flock -n 9 || exit 0
    for round in 1 2; do
      for host in $(cat hosts); do
        rsync -aI relay.keepsake "$host:relay.keepsake" &&
          ssh "$host" kvsync merge relay.keepsake settings.keepsake --quiet &&
          rsync -aI "$host:relay.keepsake" relay.keepsake ||
          echo "$host was not synced" >&2
      done
    done
    """#

  private static let ssh = #"""
    #!/bin/sh -eu
    cd "$1"
    shift
    exec "$@"
    """#

  private static let rsync = #"""
    #!/bin/sh -eu
    [ "$1" = -aI ]
    exec cp -p "$(echo "$2" | tr : /)" "$(echo "$3" | tr : /)"
    """#

  @Test(.enabled(if: (try? Command.find("flock")) != nil, "flock is of util-linux"))
  func aFleetSyncsThroughARelayThatTravels() throws {
    let names = ["web", "mail", "db"]
    let kvsync = URL(fileURLWithPath: try Command.kvsync.get()).deletingLastPathComponent().path
    func run(_ command: String) throws -> Ending {
      try Command.run(
        Command.find("sh"), ["-c", "PATH=$PWD/bin:'\(kvsync)':$PATH; \(command)"], in: folder.path)
    }
    for (name, script) in [("ssh", Self.ssh), ("rsync", Self.rsync), ("sync", Self.fleet)] {
      let bin = URL(fileURLWithPath: folder.path + "/bin")
      try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
      let file = bin.appendingPathComponent(name)
      try Data(script.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }
    for name in names {
      let made = try run("mkdir \(name); kvsync set \(name)/settings.keepsake from-\(name) yes")
      #expect(made.code == 0, "\(made)")
    }
    let begun = try run(
      "echo \(names.joined(separator: " ")) | tr ' ' '\\n' >hosts; "
        + "kvsync merge relay.keepsake web/settings.keepsake --create --quiet; sync")
    #expect(begun == Ending())
    for name in names.dropFirst() {
      #expect(try run("kvsync diff web/settings.keepsake \(name)/settings.keepsake") == Ending())
    }
    // A host that cannot be reached is told of, and holds nobody up.
    let lame = try run("mv mail gone; kvsync set web/settings.keepsake k 1; sync")
    #expect(lame.stderr.hasSuffix("mail was not synced\n") && lame.code == 0, "\(lame)")
    #expect(try run("kvsync get db/settings.keepsake k").stdout == "1\n")
    let back = try run("mv gone mail; sync; kvsync get mail/settings.keepsake k")
    #expect(back == Ending(stdout: "1\n"))
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// That `import Keepsake` takes no name away from others is shown when this compiles.

import Foundation
import Keepsake
import KeepsakeTesting
import OtherNames
import Testing

private final class Preferences: UserDefaultsStore, @unchecked Sendable {
  @Setting var username = "guest"
}

private struct Application: Assembly {
  func assemble(container: Container) { container.register(Int.self, 5) }
}

private struct Screen {
  @Injected(Factory { "Ada" }) var name
}

@Suite struct OtherNamesTests {
  @Test func theNamesOfOtherPackagesAreTheirs() {
    let container = Container()
    Application().assemble(container: container)
    let resolver: any Resolver = container
    #expect(resolver.resolve(Int.self) == 5)
    #expect(Screen().name == "Ada" && inject(Factory { 2 }) == 2)
    if case .insert(let item) = Change.insert(3) { #expect(item == 3) }
    _ = (Access(), Backup(), Compaction(), Damage(), Explanation(), Key(), Peer(), Recovery())
    #expect(Scope.unique != .singleton)
  }

  /// Two modules have a `Device`, so each is written with its module; ours is exported by Keepsake.
  @Test func oursAreNestedOrHaveNamesOfTheirOwn() throws {
    let device: Keepsake.Device = try .temporary()
    #expect(OtherNames.Device.phone != .tablet)
    let settings = try Preferences(on: device)
    let recorder = ChangeRecorder(settings)
    settings.username = "ada"
    let change: SettingChange? = recorder.last
    #expect(change?.new == "ada")
    let explanation: SettingExplanation = try settings.$username.explain()
    #expect(explanation.inForce?.value == "ada")

    let access: Keepsake.Device.Access = .readOnly
    let reader = try Keepsake.Device(path: device.path, access: access)
    let peers: [Keepsake.Device.Peer] = try reader.peers()
    let compaction: Keepsake.Device.Compaction = try device.compact()
    #expect(peers.isEmpty && compaction.dropped == 0)
    let aside = try Keepsake.Device.recover(at: URL(fileURLWithPath: device.path)) {
      (damage: Keepsake.Device.Damage) -> Keepsake.Device.Recovery in
      let backup: Keepsake.Device.Backup? = damage.backups.first
      return backup.map { .restore($0) } ?? .giveUp
    }
    #expect(aside == nil)
  }
}

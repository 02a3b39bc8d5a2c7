// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeValues

/// The hubs of a history.
struct ReplayedHubs {
  private var hubs: [String: (hub: MemoryHub, channel: MemoryChannel)] = [:]
  private var backups: [String: MemoryHub.Image] = [:]
  /// All replica IDs of the history.
  var replicas: Set<Int64> = []

  func hub(_ name: String?) throws -> MemoryHub {
    guard let name, let hub = hubs[name]?.hub else { throw Replay.UnknownFile(name: name) }
    return hub
  }

  func channel(_ name: String?) throws -> MemoryChannel {
    guard let name, let channel = hubs[name]?.channel else { throw Replay.UnknownFile(name: name) }
    return channel
  }

  mutating func perform(_ operation: ModelOperation) throws {
    let name = operation.hub ?? ""
    switch operation.do {
    case .createHub:
      let hub = try MemoryHub(account: operation.id ?? 1)
      let channel = MemoryChannel(hub)
      channel.characterLimit = operation.limit
      hubs[name] = (hub, channel)
    case .backupHub: backups[name] = try hub(name).image
    default: if let image = backups[name] { try hub(name).image = image }
    }
  }

  func differences(from models: [String: ModelHub]) throws -> [String] {
    try models.sorted { $0.key < $1.key }.flatMap { name, model in
      try FileState(of: hub(name), replicas).differences(from: FileState(model))
        .map { "\(name) \($0)" }
    }
  }
}

extension Replay {
  func sync(_ operation: ModelOperation, _ numbers: Numbers) throws {
    let (device, hub) = (try device(operation.file), try hubs.hub(operation.hub))
    let channel = try hubs.channel(operation.hub)
    hub.clock = (operation.hubClock ?? 0) >> 16
    let before = hub.markBits
    hub.markBits = { numbers.source.markBits() }
    defer { hub.markBits = before }
    var (isDone, isRefused) = (Bool?.none, false)
    try interrupting(operation) { hooks throws(KeepsakeError) in
      let sync = HubSync(
        device, channel, pageSize: pageSize, source: numbers.source, hooks: hooks)
      do throws(KeepsakeError) {
        isDone = try sync.run()
      } catch where error.code == .unavailable {
        isRefused = true
      }
    }
    if isDone != operation.isDone || isRefused != (operation.isRefused ?? false) {
      faults.append("the sync was done: \(String(describing: isDone)), refused: \(isRefused)")
    }
  }
}

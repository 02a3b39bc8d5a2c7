// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  /// Applies to each of `places` the timestamps that others have revoked, before anything is read
  /// by their order.
  ///
  /// Only in an exchange of all that travels: what waits with such a timestamp goes, and what takes
  /// its place has to come. Limits that no repair sets, negative or from the future, are not
  /// believed.
  mutating func shareRevocations(among places: some Sequence<Int>) throws(KeepsakeError) {
    guard options.stores == nil else { return }
    var all: [ReplicaID: HybridTimestamp] = [:]
    for device in devices {
      all.merge(try device.core.access { try $0.revocations() }, uniquingKeysWith: min)
    }
    guard !all.isEmpty else { return }
    for place in places {
      let device = devices[place]
      let known = try device.core.access { try $0.revocations() }
      let now = device.clock.milliseconds
      let horizon = Held.horizon(now: now, skew: options.maximumClockSkew)
      let news = all.filter { known[$0.key] != min($0.value, known[$0.key] ?? $0.value) }
        .filter { (HybridTimestamp.zero...horizon).contains($0.value) }
        .sorted { $0.key < $1.key }
      guard !news.isEmpty else { continue }
      let id = ReplicaID.random(using: &generator)
      let (count, isCopy) = try device.core.write { connection in
        let before = try ReplicaState(connection).id
        let count = try news.reduce(0) {
          try $0 + connection.revoke($1.key, after: $1.value, as: id)
        }
        return ((count, try ReplicaState(connection).id != before), [])
      }
      if isCopy { report.events.append(.cloneDetected(device: place)) }
      if count > 0 { report.events.append(.timestampsRevoked(device: place, entries: count)) }
    }
  }
}

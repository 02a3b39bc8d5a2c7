// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

extension MergeRun {
  /// Applies to each of `places` the timestamps that others have revoked, before anything is read
  /// by their order.
  ///
  /// Only in an exchange of all that syncs: what is held with such a timestamp goes, and what
  /// takes its place has to come. Limits that no repair sets, negative or from the future, are not
  /// believed.
  mutating func shareRevocations(among places: some Sequence<Int>) throws(KeepsakeError) {
    guard options.stores == nil else { return }
    var all: [ReplicaID: HybridTimestamp] = [:]
    for party in parties { all.merge(try party.revocations(), uniquingKeysWith: min) }
    guard !all.isEmpty else { return }
    for place in places {
      let party = parties[place]
      let known = try party.revocations()
      let horizon = Held.horizon(now: party.now, skew: options.clockSkew)
      let news = all.filter { known[$0.key] != min($0.value, known[$0.key] ?? $0.value) }
        .filter { (HybridTimestamp.zero...horizon).contains($0.value) }
      guard !news.isEmpty else { continue }
      let revoked = try party.revoke(after: news, as: .random(using: &generator))
      if revoked.isCopy { report.events.append(.cloneDetected(device: place)) }
      if revoked.entries > 0 {
        report.events.append(.timestampsRevoked(device: place, entries: revoked.entries))
      }
    }
  }
}

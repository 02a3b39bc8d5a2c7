// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

// What a device does not believe of a hub. What it does believe it writes down, and tells to
// others: a file whose version vector or whose revocations have no end could be met by nobody any
// more.
extension HubParty {
  /// Many times what a hub takes.
  private static let most = (stores: 1000, revocations: 1000, origins: 100_000)

  /// Refuses an answer that no hub gives.
  func check(_ answer: HubAnswer, to request: HubRequest) throws(KeepsakeError) {
    guard answer.stores.count <= Self.most.stores + request.stores.count else {
      throw malformed("names too many stores")
    }
    guard answer.revocations.count <= Self.most.revocations else {
      throw malformed("revokes the timestamps of too many devices")
    }
    guard (answer.page?.seen ?? []).count <= Self.most.origins else {
      throw malformed("claims to have seen writes of too many devices")
    }
    guard let pushed = answer.pushed else { return }
    var sent = 0
    for case .push(let push) in request.steps { sent += push.rows.count }
    guard pushed.before <= pushed.after, pushed.after <= answer.seq,
      max(pushed.changed, pushed.held, pushed.answered) <= sent
    else { throw malformed("counts rows that were not sent") }
  }

  /// The page of an answer, if it is one.
  ///
  /// - Parameter place: the sequence number after which it begins.
  func checked(
    _ answer: HubAnswer, after place: Int64
  ) throws(KeepsakeError) -> HubAnswer.Page {
    guard let page = answer.page else { throw malformed("has no rows") }
    var last = place
    for row in page.rows {
      guard row.seq > last, row.seq <= page.through, !row.entry.address.key.string.isEmpty else {
        throw malformed("has rows in a wrong order")
      }
      last = row.seq
    }
    // A page that is not the last has a row, or reading would never end.
    guard page.through >= place, !page.hasMore || last > place else {
      throw malformed("does not go on")
    }
    return page
  }

  func state(
    of store: ByteText, in answer: HubAnswer
  ) throws(KeepsakeError) -> HubAnswer.Store {
    guard let state = answer.stores[store] else {
      throw malformed("names no store \(store.string)")
    }
    return state
  }

  func malformed(_ problem: String) -> KeepsakeError {
    KeepsakeError(
      .malformed, path: name, "its answer \(problem)",
      cure: "ask who runs the hub, or try another version")
  }
}

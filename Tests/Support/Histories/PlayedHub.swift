// SPDX-License-Identifier: Apache-2.0

package import HubSupport
package import KeepsakeSync
package import KeepsakeValues

/// Makes the hub of a history, under its first replica ID.
package typealias HubMaker = (ReplicaID) throws -> any PlayedHub

/// A hub as a history plays with it, wherever it keeps its account.
package protocol PlayedHub {
  var id: ReplicaID { get throws }
  /// Every row, by address.
  var rows: [HubAnswer.Row] { get throws }
  var held: Set<Entry> { get throws }

  /// Answers a request, all of it or nothing.
  func answer(
    _ request: HubRequest, at now: Int64
  ) throws -> Result<HubAnswer, HubRefusal>

  /// Lets collection no longer wait for a device.
  func retire(_ device: ReplicaID) throws

  /// All of it at one moment.
  func image() throws -> any Sendable
  /// Goes back, or on, to another state.
  func restore(_ image: any Sendable) throws
}

extension MemoryHub: PlayedHub {
  package func image() -> any Sendable { image as Image }

  package func restore(_ image: any Sendable) throws {
    guard let image = image as? Image else {
      throw ScriptError(description: "not an image of a hub in memory")
    }
    restore(image)
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Members that were renamed. A type that asks for the former name only where the new one is
// missing, as `Codable` types do, would never see it under the default of the new one.

import KeepsakeValues

extension Setting {
  /// What is in force over what the default encodes; without defaults that keep the type from
  /// asking for a member that is in force.
  func laid(_ inForce: [String: StoredValue], over fields: Fields) -> [String: StoredValue] {
    var laid = fields.defaults.merging(inForce) { $1 }
    let former = Set(inForce.keys.filter { fields.defaults[$0] == nil })
    var ignored = former.subtracting(asked(of: laid))
    for name in fields.defaults.keys.sorted() where inForce[name] == nil && !ignored.isEmpty {
      var without = laid
      without[name] = nil
      let stillIgnored = former.subtracting(asked(of: without))
      if stillIgnored.count < ignored.count { (laid, ignored) = (without, stillIgnored) }
    }
    return laid
  }

  /// The members that the type asks for when it decodes these; none if it cannot.
  private func asked(of members: [String: StoredValue]) -> Set<String> {
    guard case .members(let hooks) = codec,
      case .success(let found) = Result(catching: { try hooks.members(members) })
    else { return [] }
    return found.asked
  }
}

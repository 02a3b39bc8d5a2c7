// SPDX-License-Identifier: Apache-2.0
//
// A setting that is stored member by member. Its value in force is a dictionary of the members that
// some layer has. The value is decoded from the default's members, replaced by these.

import KeepsakeDevice
import KeepsakeValues

extension Setting {
  /// A structure that is stored member by member, so that two devices can change two members and
  /// keep both:
  ///
  /// ```swift
  /// struct Preferences: Codable { var name = "guest", volume = 5, nickname: String? }
  ///
  /// @Setting(fields: "prefs.") var prefs = Preferences()  // prefs.name, prefs.volume, …
  /// ```
  ///
  /// A member's key is the prefix and its coding key, its value what a setting of its type stores,
  /// a structure's too; nil removes it, which uncovers the layer below. A write stores in one step
  /// those members that differ from what was read; other keys with the prefix, such as members of a
  /// newer version, stay. A member that cannot be read has the default's value, is reported under
  /// its own key, and is written only if it differs from the default; `read()` and `update(_:)`
  /// throw for it.
  ///
  /// The members are those of the type's `Codable` conformance; hooks of the type itself are not
  /// called, those of its members are. The store cannot be made if the type encodes no members, if
  /// they differ from value to value, or if another setting has the key of one. A value is not
  /// written if it encodes others than the default.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default, given by assignment.
  ///   - prefix: what the members' keys begin with; it may be empty.
  public convenience init(wrappedValue: Value, fields prefix: String) where Value: Codable {
    self.init(
      .constant(wrappedValue), key: prefix,
      codec: .closures(
        decode: { try $0.decoded(as: Value.self) }, encode: { try StoredValue(coding: $0) })
    ) { CodedMembers(of: Value.self, decoding: $0) }
  }

  func fields() throws(SettingDeclarationError) -> Fields? {
    guard let members else { return nil }
    return try Fields(
      of: defaultValue, codec, members: members, prefix: explicitKey ?? "")
  }
}

// MARK: - Reading

extension Setting {
  /// The value of the members in force.
  ///
  /// - Parameter failing: is called for each member that cannot be read; unless it throws, that one
  ///   has the default's value.
  func value(
    of inForce: [String: StoredValue], _ fields: Fields, _ backing: Backing,
    failing: (SettingFailure) throws -> Void
  ) rethrows -> Value {
    if case .success(let value) = whole(fields.defaults.merging(inForce) { $1 }) { return value }
    // Adds one member at a time, and repeats while any was readable: one may depend on another.
    var (laid, value) = (fields.defaults, defaultValue)
    var rest = fields.members.filter { inForce[$0.name] != nil }
    var failures: [SettingFailure] = []
    var count = 0
    repeat {
      (count, failures) = (rest.count, [])
      rest = rest.filter { member in
        guard let stored = inForce[member.name] else { return false }
        func lay(_ stored: StoredValue) throws {
          let new = laid.merging([member.name: stored]) { $1 }
          (value, laid) = (try whole(new).get(), new)
        }
        do {
          try backing.decode(inForce: stored, member.key, lay)
          return false
        } catch {
          failures.append(
            error as? SettingFailure ?? backing.failure(.read, error, key: member.key))
          return true
        }
      }
    } while rest.count < count && !rest.isEmpty
    for failure in failures { try failing(failure) }
    return value
  }

  func whole(_ members: [String: StoredValue]) -> Result<Value, any Error> {
    Result { try codec.decode(.dictionary(members)) }
  }
}

// MARK: - Writing

extension Setting {
  /// The values to store in place of the ones that were read: none if the value is unchanged; only
  /// the changed members of a setting that is stored member by member.
  func replacements(
    of read: InPlaceChange<Value>.Reading, by new: Value, _ bound: SettingSlot.Binding
  ) throws -> [Replacement] {
    guard let fields = bound.fields else {
      return try bound.backing.replacements(of: read, by: new, declaration(bound))
    }
    let encoded = try bound.backing.encode(new, declaration(bound))
    do {
      let before = try fields.members(of: codec.encode(read.value))
      let after = try fields.members(of: encoded)
      let inForce = read.stored?.members ?? [:]
      return fields.members.filter { before[$0.name] != after[$0.name] }.map {
        Replacement(key: $0.key, seen: inForce[$0.name], new: after[$0.name])
      }
    } catch {
      throw bound.backing.failure(.write, error, key: bound.key)
    }
  }

  /// Writes the members that differ from what is in force without the launch arguments, as one
  /// step: an argument must not keep what equals it from being stored.
  ///
  /// - Parameter writing: gets each key before it is written.
  func writeMembers(
    _ value: Value, _ bound: SettingSlot.Binding, waiting limit: Duration?,
    writing: (String) -> Void
  ) throws {
    let backing = bound.backing
    try backing.transaction(backing.durability, waiting: limit) {
      let stored = try bound.form(
        of: backing.layers.valuesWithoutArguments(bound.keys), failing: { _ in })
      let old = try decode(inForce: stored, bound) { _ in }
      for replacement in try replacements(of: (stored, old), by: value, bound) {
        writing(replacement.key)
        try backing.set(replacement.new, replacement.key)
      }
      writing(bound.key)
    }
  }

  /// Reads the value that an in-place change starts from. A member that cannot be read has the
  /// default's value, because it must not prevent changes of other members.
  func readForChange(_ bound: SettingSlot.Binding) throws -> InPlaceChange<Value>.Reading {
    let stored = try bound.stored { _ in }
    return (stored, try decode(inForce: stored, bound) { _ in })
  }
}

extension StoredValue {
  /// The members of a dictionary; none for other values.
  var members: [String: StoredValue] {
    if case .dictionary(let members) = self { members } else { [:] }
  }
}

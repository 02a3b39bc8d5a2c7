// SPDX-License-Identifier: Apache-2.0
//
// A setting that is stored member by member. Its stored value is a dictionary of the members that
// some layer has. Its value is decoded from these and, for the other members, the default's.

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
  /// A member's key is the prefix and its coding key. Its value is stored like that of a setting of
  /// its type, also if it is a structure; nil removes it, so that the layer below is in force. A
  /// write stores in one step the members that differ from what was read; other keys with the
  /// prefix, such as members of a newer version, stay. A member that cannot be read has the
  /// default's value, is reported under its own key, and is written only if it differs from the
  /// default; `read()` and `update(_:)` throw for it.
  ///
  /// The members are those of the type's `Codable` conformance. The store calls the hooks of the
  /// members, but not those of the type itself. The store's initialiser throws if the type encodes
  /// no members, if they differ from value to value, or if another setting has the key of one. A
  /// write fails if the value encodes other members than the default.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default, given by assignment.
  ///   - prefix: the beginning of the members' keys; it may be empty.
  public convenience init(wrappedValue: Value, fields prefix: String) where Value: Codable {
    self.init(
      .constant(wrappedValue), key: prefix,
      codec: .closures(
        decode: { try $0.decoded(as: Value.self) }, encode: { try StoredValue(coding: $0) })
    ) { CodedMembers(of: Value.self, decoding: $0) }
  }

  func memberLayout() throws(SettingDeclarationError) -> MemberLayout? {
    guard let members else { return nil }
    return try MemberLayout(of: defaultValue, codec, members: members, prefix: explicitKey ?? "")
  }
}

// MARK: - Reading

extension Setting {
  /// The value of the members in force.
  ///
  /// - Parameter failing: called for each member that cannot be read; unless it throws, the member
  ///   has the default's value.
  func value(
    of inForce: [String: StoredValue], in layout: MemberLayout, backing: Backing,
    failing: (SettingFailure) throws -> Void
  ) rethrows -> Value {
    func decoded(_ members: [String: StoredValue]) -> Result<Value, any Error> {
      Result { try codec.decode(.dictionary(members)) }
    }
    if case .success(let value) = decoded(layout.defaults.merging(inForce) { $1 }) { return value }
    // Adds one member at a time, and repeats while any was readable: one may depend on another.
    var (readable, value) = (layout.defaults, defaultValue)
    var rest = layout.members.filter { inForce[$0.name] != nil }
    var failures: [SettingFailure] = []
    var count = 0
    repeat {
      (count, failures) = (rest.count, [])
      rest = rest.filter { member in
        guard let stored = inForce[member.name] else { return false }
        func add(_ stored: StoredValue) throws {
          let new = readable.merging([member.name: stored]) { $1 }
          (value, readable) = (try decoded(new).get(), new)
        }
        do {
          try backing.decode(inForce: stored, of: member.key, by: add)
          return false
        } catch {
          failures.append(
            error as? SettingFailure
              ?? SettingFailure(.read, error, store: backing.store, key: member.key))
          return true
        }
      }
    } while rest.count < count && !rest.isEmpty
    for failure in failures { try failing(failure) }
    return value
  }
}

// MARK: - Writing

extension Setting {
  /// The values to store in place of the ones that were read: none if the value is unchanged; only
  /// the changed members of a setting that is stored member by member.
  func replacements(
    of read: InPlaceChange<Value>.Reading, by new: Value, for bound: SettingSlot.Binding
  ) throws -> [Replacement] {
    guard let layout = bound.layout else {
      return try bound.backing.replacements(of: read, by: new, for: declaration(bound))
    }
    let encoded = try bound.backing.encode(new, for: bound.key, by: codec)
    do {
      let before = try layout.members(of: codec.encode(read.value))
      let after = try layout.members(of: encoded)
      let inForce = read.stored?.members ?? [:]
      return layout.members.filter { before[$0.name] != after[$0.name] }.map {
        Replacement(key: $0.key, seen: inForce[$0.name], new: after[$0.name])
      }
    } catch {
      throw SettingFailure(.write, error, store: bound.backing.store, key: bound.key)
    }
  }

  /// Writes the members that differ from what is in force without the launch arguments, as one
  /// step: a value that equals a launch argument has to be stored too.
  ///
  /// - Parameter writing: called with each key before it is written.
  func writeMembers(
    _ value: Value, to bound: SettingSlot.Binding, waiting limit: Duration?,
    writing: (String) -> Void
  ) throws {
    let backing = bound.backing
    try backing.transaction(waiting: limit) {
      let stored = try bound.stored(
        in: backing.layers.values(bound.keys, withoutArguments: true), failing: { _ in })
      let old = try decode(inForce: stored, of: bound) { _ in }
      for replacement in try replacements(of: (stored, old), by: value, for: bound) {
        writing(replacement.key)
        try backing.set(replacement.new, for: replacement.key)
      }
      writing(bound.key)
    }
  }

  /// Reads the value that an in-place change starts from. A member that cannot be read has the
  /// default's value, because it must not prevent changes of other members.
  func readForChange(_ bound: SettingSlot.Binding) throws -> InPlaceChange<Value>.Reading {
    let stored = try bound.stored { _ in }
    return (stored, try decode(inForce: stored, of: bound) { _ in })
  }
}

extension StoredValue {
  /// The members of a dictionary; none for other values.
  var members: [String: StoredValue] {
    if case .dictionary(let members) = self { members } else { [:] }
  }
}

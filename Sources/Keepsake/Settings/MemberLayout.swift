// SPDX-License-Identifier: Apache-2.0
//
// The keys of a setting that is stored member by member, and the checks of its type.

import KeepsakeDevice
import KeepsakeValues

/// The members of a value, each of which is stored under a key of its own.
final class MemberLayout: Sendable {
  struct Member: Sendable {
    let name: String
    let key: String
  }

  /// In the order in which the type decodes them.
  let members: [Member]
  /// The encoded members of the default, without members that are nil.
  let defaults: [String: StoredValue]

  /// - Parameters:
  ///   - members: finds the members that a type decodes from encoded ones.
  ///   - prefix: the beginning of each member's key.
  init<Value>(
    of defaultValue: Value, _ codec: SettingCodec<Value>,
    members: ([String: StoredValue]) -> CodedMembers, prefix: String
  ) throws(SettingDeclarationError) {
    try Self.check(Value.self)
    defaults = try Self.encoded(defaultValue, codec)
    self.members = try Self.members(Value.self, members(defaults)).map {
      Member(name: $0, key: prefix + $0)
    }
    let longest = EntrySize.maximumName
    for member in self.members {
      if member.key.isEmpty { throw Self.problem("the key of a member is empty; give a prefix") }
      if member.key.utf8.count > longest {
        throw Self.problem(
          "the key \"\(member.key)\" is longer than \(longest) bytes;"
            + " give a shorter prefix")
      }
    }
  }

  /// The default with another value of one member.
  func example(with value: StoredValue, as member: Member) -> StoredValue {
    .dictionary(defaults.merging([member.name: value]) { $1 })
  }

  /// The members of an encoded value.
  ///
  /// - Throws: `ValueError` for a member that the default's coding did not show.
  func members(of encoded: StoredValue?) throws(ValueError) -> [String: StoredValue] {
    guard case .dictionary(let found) = encoded else {
      throw ValueError(
        .invalid, "this value encodes no members, though the default does; use another type")
    }
    let names = Set(members.map { ByteText($0.name) })
    if let unknown = found.keys.sorted().first(where: { !names.contains(ByteText($0)) }) {
      throw ValueError(
        .invalid,
        "this value encodes a member \"\(unknown)\" that the default's coding did not ask for;"
          + " decode it in every init(from:)")
    }
    return found
  }
}

// MARK: - Checks

extension MemberLayout {
  private static func problem(_ sentence: String) -> SettingDeclarationError {
    SettingDeclarationError(description: sentence)
  }

  private static func check(_ type: Any.Type) throws(SettingDeclarationError) {
    if type is AnyObject.Type {
      throw problem(
        "\(type) is a class, so the store cannot know when a member changes; make it a structure")
    }
    if type is any AnyOptional.Type {
      throw problem("\(type) is an optional, and nil has no members; make its members optional")
    }
  }

  private static func encoded<Value>(
    _ defaultValue: Value, _ codec: SettingCodec<Value>
  ) throws(SettingDeclarationError) -> [String: StoredValue] {
    let encoded = Result { try codec.encode(defaultValue) }
    switch encoded {
    case .success(.dictionary(let members)): return members
    case .success(let other):
      let kind = other.map(\.kind.rawValue) ?? "nothing"
      throw problem(
        "\(Value.self) encodes no members but one value, of type \(kind);"
          + " declare it without fields")
    case .failure(let error): throw problem("its default cannot be stored: \(error)")
    }
  }

  private static func members(
    _ type: Any.Type, _ found: CodedMembers
  ) throws(SettingDeclarationError) -> [String] {
    if let error = found.failure { throw problem("its default cannot be read back: \(error)") }
    guard !found.isOpen else {
      throw problem(
        "the members of \(type) differ from value to value, as those of a dictionary;"
          + " declare it without fields")
    }
    guard found.isKeyed, !found.members.isEmpty else {
      throw problem("\(type) has no members; declare it without fields")
    }
    return found.members
  }
}

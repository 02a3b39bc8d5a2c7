// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

extension PropertyListNode {
  /// The value as a store keeps it.
  ///
  /// - Throws: `Fault` at the element that a store cannot hold: an integer above `Int64.max`, or a
  ///   container below `StoredValue.maximumDepth` levels, where the recursion ends.
  package func storedValue(depth: Int = 0) throws(Fault) -> StoredValue {
    switch value {
    case .string(let text): return .string(text)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .boolean(let flag): return .boolean(flag)
    case .data(let bytes): return .data(Data(bytes))
    case .date(let date): return .date(date)
    case .unsigned:
      throw Fault(
        .unsignedTooLarge, at: Int(offset),
        "this integer exceeds \(Int64.max), the largest that a store can hold",
        cure: "use a smaller integer or a string")
    case .array(let elements):
      try check(depth)
      var list: [StoredValue] = []
      for element in elements { list.append(try element.storedValue(depth: depth + 1)) }
      return .array(list)
    case .dictionary(let members):
      try check(depth)
      var table: [String: StoredValue] = [:]
      for member in members {
        table[member.key] = try member.value.storedValue(depth: depth + 1)
      }
      return .dictionary(table)
    }
  }

  /// Whether this default selects `choice`: the values are equal, or this is an integer and the
  /// choice is the real of the same value. False for a value that no store can hold.
  package func isChoice(_ choice: PropertyListNode) -> Bool {
    guard let wanted = ifStorable, let candidate = choice.ifStorable else { return false }
    if case .real(let real) = candidate, case .integer(let integer) = wanted {
      return Double(exactly: integer) == real
    }
    return candidate == wanted
  }

  /// The value as a store keeps it; nil if no store can hold it.
  package var ifStorable: StoredValue? {
    do throws(Fault) {
      return try storedValue()
    } catch {
      return nil
    }
  }

  private func check(_ depth: Int) throws(Fault) {
    guard depth < StoredValue.maximumDepth else {
      throw Fault(
        .tooDeep, at: Int(offset),
        "a stored value nests at most \(StoredValue.maximumDepth) arrays and dictionaries",
        cure: "flatten this value")
    }
  }
}

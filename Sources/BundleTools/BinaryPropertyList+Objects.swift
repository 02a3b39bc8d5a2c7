// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

// MARK: - Objects

extension BinaryPropertyList {
  private mutating func value(_ object: Int) throws(Fault) -> StoredValue {
    let start = try offset(of: object)
    try count(at: start)
    let marker = bytes[start]
    switch marker {
    case 0x08, 0x09: return .boolean(marker == 0x09)
    case 0x10...0x14: return .integer(try integer(at: start))
    case 0x22:
      let bits = number(at: try fixed(start, 4).lowerBound, size: 4)
      return .real(Double(Float(bitPattern: UInt32(bits))))
    case 0x23: return .real(try double(at: start))
    case 0x33: return .date(try date(at: start))
    case 0x40...0x4F: return .data(Data(bytes[try text(of: start, size: 1)]))
    case 0x50...0x6F: return .string(try string(at: start))
    case 0xA0...0xAF: return .array(try array(object, at: start))
    case 0xD0...0xDF:
      let members = try dictionary(object, at: start).map { ($0.key, $0.value) }
      return .dictionary(Dictionary(uniqueKeysWithValues: members))
    default: throw unstorable(marker, at: start)
    }
  }

  private func fixed(_ start: Int, _ size: Int) throws(Fault) -> Range<Int> {
    try content(of: start, behind: start + 1, 1, size: size)
  }

  /// Integers of up to four bytes are unsigned, those of eight and sixteen are signed.
  private func integer(at start: Int) throws(Fault) -> Int64 {
    let range = try fixed(start, 1 << Int(bytes[start] & 0xF))
    let low = number(at: range.lowerBound + max(0, range.count - 8), size: min(8, range.count))
    let value = Int64(bitPattern: low)
    let high = range.count == 16 ? number(at: range.lowerBound, size: 8) : value < 0 ? .max : 0
    guard high == (value < 0 ? .max : 0) else {
      throw Fault(
        .unsignedTooLarge, at: start,
        "this integer is outside \(Int64.min)…\(Int64.max), the range of a store",
        cure: "use a smaller integer or a string")
    }
    return value
  }

  private func double(at start: Int) throws(Fault) -> Double {
    Double(bitPattern: number(at: try fixed(start, 8).lowerBound, size: 8))
  }

  private func date(at start: Int) throws(Fault) -> Date {
    let seconds = try double(at: start)
    guard seconds.isFinite else {
      throw Fault(.invalidDate, at: start, "this date is not finite", cure: "set it again")
    }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  /// The range of a string or data, whose length counts towards the limits.
  private mutating func text(of start: Int, size: Int) throws(Fault) -> Range<Int> {
    let range = try content(of: start, size: size)
    textBytes += range.count
    guard range.count <= limits.textBytes, textBytes <= limits.effectiveBytes else {
      throw Fault(
        .textTooLong, at: start,
        "strings and data exceed the limit of \(limits.textBytes) bytes each, "
          + "\(limits.effectiveBytes) in total", cure: "remove some")
    }
    return range
  }

  /// Reads ASCII or UTF-16.
  private mutating func string(at start: Int) throws(Fault) -> String {
    let isWide = bytes[start] >= 0x60
    let range = try text(of: start, size: isWide ? 2 : 1)
    let text =
      isWide
      ? String(
        validating: stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
          UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }, as: UTF16.self)
      : String(validating: bytes[range], as: Unicode.ASCII.self)
    guard let text else {
      throw Fault(
        .invalidCharacter, at: start,
        isWide ? "this string has an unpaired surrogate" : "this string of ASCII has other bytes",
        cure: "write it again")
    }
    return text
  }

  private func unstorable(_ marker: UInt8, at start: Int) -> Fault {
    let what: String? =
      switch marker {
      case 0x00: "a null"
      case 0x80...0x8F: "a UID of a keyed archive"
      case 0xB0...0xCF: "a set"
      case 0x0C...0x0E: "a URL or a UUID"
      default: nil
      }
    guard let what else { return damage(at: start, "unknown type of object") }
    return Fault(
      .wrongType, at: start, "a store cannot hold \(what)",
      cure: "remove it, or write it with another type")
  }
}

// MARK: - Containers

extension BinaryPropertyList {
  private mutating func count(at start: Int) throws(Fault) {
    elements += 1
    guard elements <= limits.elements else {
      throw Fault(
        .tooManyElements, at: start, "the file has more than \(limits.elements) elements",
        cure: "remove some")
    }
    // A tree without shared objects has at most one element per byte. Without a limit on sharing, a
    // few hundred bytes could expand to fill the memory.
    let most = bytes.count + PropertyListLimits().elements
    guard elements <= most else {
      throw Fault(
        .tooManyElements, at: start,
        "shared objects expand to more than \(most) elements", cure: "convert the file to XML")
    }
  }

  private mutating func enter(_ object: Int, at start: Int) throws(Fault) {
    guard !open.contains(object) else {
      throw damage(at: start, "an array or dictionary contains itself")
    }
    guard open.count <= StoredValue.maximumDepth else {
      throw Fault(
        .tooDeep, at: start,
        "a stored value nests at most \(StoredValue.maximumDepth) arrays and dictionaries",
        cure: "flatten it")
    }
    open.append(object)
  }

  private mutating func array(_ object: Int, at start: Int) throws(Fault) -> [StoredValue] {
    try enter(object, at: start)
    var values: [StoredValue] = []
    let range = try content(of: start, size: numberSize)
    for index in stride(from: range.lowerBound, to: range.upperBound, by: numberSize) {
      steps.append(.index(values.count))
      values.append(try value(reference(at: index)))
      steps.removeLast()
    }
    open.removeLast()
    return values
  }

  mutating func dictionary(
    _ object: Int, at start: Int
  ) throws(Fault) -> [(key: String, value: StoredValue)] {
    try enter(object, at: start)
    var members: [(key: String, value: StoredValue)] = []
    var keys: Set<String> = []
    let range = try content(of: start, size: 2 * numberSize)
    let middle = range.lowerBound + range.count / 2
    for index in stride(from: range.lowerBound, to: middle, by: numberSize) {
      let place = try offset(of: reference(at: index))
      try count(at: place)
      guard (5...6).contains(bytes[place] >> 4) else {
        throw Fault(.wrongType, at: place, "a key is not a string", cure: "make it a string")
      }
      let key = try string(at: place)
      steps.append(.key(key))
      guard !key.hasTooManyCombiningMarks else {
        throw Fault(
          .textTooLong, at: place, "this key has more than 30 combining marks in a row",
          cure: "rename it")
      }
      guard keys.insert(key).inserted else {
        throw Fault(
          .duplicateKey, at: place, "duplicate key", cure: "remove or rename one of the two")
      }
      members.append((key, try value(reference(at: index + range.count / 2))))
      steps.removeLast()
    }
    open.removeLast()
    return members
  }
}

// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import KeepsakeValues
import TestSupport
import Testing

/// A binary property list of these objects, the first one its root.
private func binary(_ objects: [UInt8]..., trailer: [Int: UInt8] = [:]) -> [UInt8] {
  binary(objects, trailer: trailer)
}

private func binary(_ objects: [[UInt8]], trailer: [Int: UInt8] = [:]) -> [UInt8] {
  var bytes = Array("bplist00".utf8)
  var table: [UInt8] = []
  for object in objects {
    table += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
    bytes += object
  }
  let start = bytes.count
  func wide(_ number: Int) -> [UInt8] {
    (0..<8).reversed().map { UInt8(number >> ($0 * 8) & 0xFF) }
  }
  var end = [0, 0, 0, 0, 0, 0, 2, 1] + wide(objects.count) + wide(0) + wide(start)
  for (index, byte) in trailer { end[index] = byte }
  return bytes + table + end
}

private func text(_ text: String) -> [UInt8] { [0x50 + UInt8(text.utf8.count)] + text.utf8 }
/// A dictionary with the one key that is object 1, and the value that is object 2.
private let root: [UInt8] = [0xD1, 1, 2]

private func members(_ bytes: [UInt8]) throws -> StoredValue {
  try PropertyList.parse(bytes, file: "p").root.storedValue()
}

/// The list as a line, or the code and the text of its error.
private func outcome(
  of bytes: [UInt8], _ limits: PropertyListLimits = PropertyListLimits()
) -> String {
  do throws(PropertyListError) {
    return spelled(try PropertyList.parse(bytes, file: "p", limits: limits).root)
  } catch {
    return "\(error.code.rawValue) \(error)"
  }
}

/// With the members of dictionaries sorted.
private func sorted(_ node: PropertyListNode) -> PropertyListNode {
  switch node.value {
  case .array(let elements): PropertyListNode(offset: 0, .array(elements.map(sorted)))
  case .dictionary(let members):
    PropertyListNode(
      offset: 0,
      .dictionary(
        members.sorted { ByteText($0.key) < ByteText($1.key) }.map {
          PropertyListNode.Member(key: $0.key, keyOffset: 0, value: sorted($0.value))
        }))
  default: node
  }
}

@Suite struct BinaryPropertyListTests {
  @Test func whatFoundationWritesIsReadAsItIs() throws {
    let seed = Seeds.any
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<300 * Seeds.factor {
      let tree = RandomTree.dictionary([("k", RandomTree(&chance))])
      let expected = sorted(
        try PropertyList.parse(Array(tree.foundation(.xml)), file: "x").root)
      let read = try PropertyList.parse(Array(tree.foundation(.binary)), file: "p").root
      #expect(spelled(read) == spelled(expected), "KEEPSAKE_SEED=\(seed)")
    }
  }

  @Test func everyKindIsKept() throws {
    let values: [([UInt8], StoredValue)] = [
      ([0x08], false), ([0x09], true), ([0x10, 0xFF], 255), ([0x11, 0xFF, 0xFE], 65534),
      ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], 4_294_967_295),
      ([0x13] + Array(repeating: 0xFF, count: 8), -1),
      ([0x14] + Array(repeating: 0xFF, count: 16), -1),
      ([0x14] + Array(repeating: 0, count: 15) + [7], 7),
      ([0x22, 0x3F, 0x80, 0, 0], 1.0), ([0x23, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0], 1.5),
      ([0x33, 0x3F, 0xE0, 0, 0, 0, 0, 0, 0], .date(Date(timeIntervalSinceReferenceDate: 0.5))),
      ([0x42, 1, 2], .data(Data([1, 2]))), (text("a\u{0}b"), "a\u{0}b"),
      ([0x62, 0xD8, 0x3D, 0xDE, 0x00], "😀"), ([0x5F, 0x10, 0x01, 0x61], "a"), ([0xA0], []),
      ([0xA2, 1, 1], ["k", "k"]), ([0xD1, 1, 1], ["k": "k"]),
    ]
    for (object, value) in values {
      #expect(try members(binary(root, text("k"), object)) == ["k": value])
    }
  }

  @Test func integersAboveTheLargestSignedOneAreKeptApart() throws {
    let largest = [0x14] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 0xFF, count: 8)
    #expect(outcome(of: binary(largest)) == "u18446744073709551615")
    #expect(outcome(of: binary([0xA1, 1], [0x09])) == "[true]")
  }

  @Test func membersAreSorted() {
    let table: [UInt8] = [0xD3, 3, 1, 2, 4, 4, 4]
    let bytes = binary(table, text("b"), text("a"), text("c"), [0x09])
    #expect(outcome(of: bytes) == "{a:true b:true c:true}")
  }

  /// Objects 2 and on, and the complaint.
  static let bad: [([[UInt8]], String)] = [
    ([[0xC1, 1]], "wrongType p:k: at byte 13: a store cannot hold a set"),
    ([[0xB1, 1]], "wrongType p:k: at byte 13: a store cannot hold a set"),
    ([[0x00]], "wrongType p:k: at byte 13: a store cannot hold a null"),
    ([[0x80, 1]], "wrongType p:k: at byte 13: a store cannot hold a UID of a keyed archive"),
    ([[0x0C]], "wrongType p:k: at byte 13: a store cannot hold a URL"),
    ([[0x70]], "malformedBinary p:k: at byte 13: this property list is damaged: unknown type"),
    ([[0x15]], "malformedBinary p:k: at byte 13: this property list is damaged: unknown type"),
    (
      [[0x13, 0x80]],
      "malformedBinary p:k: at byte 13: this property list is damaged: an object extends"
    ),
    (
      [[0xA1, 9]], "malformedBinary p:k[0]: at byte 14: this property list is damaged: a reference"
    ),
    (
      [[0xA1, 3]], "malformedBinary p:k[0]: at byte 14: this property list is damaged: a reference"
    ),
    (
      [[0xA1, 3], [0xA1, 2]],
      "malformedBinary p:k[0][0]: at byte 13: this property list is damaged: an array or"
    ),
    ([[0xA1, 0]], "malformedBinary p:k[0]: at byte 8: this property list is damaged: an array or"),
    ([[0x61, 0xD8, 0]], "invalidCharacter p:k: at byte 13: this string has an unpaired surrogate"),
    ([[0x51, 0x80]], "invalidCharacter p:k: at byte 13: this string of ASCII has"),
    ([[0xD1, 3, 1], [0x61, 0xDC, 0]], "invalidCharacter p:k: at byte 16: this string has"),
    ([[0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]], "invalidDate p:k: at byte 13: this date is not"),
    ([[0x33, 0xFF, 0xF8, 0, 0, 0, 0, 0, 1]], "invalidDate p:k: at byte 13: this date is not"),
    ([[0xD2, 1, 1, 1, 1]], "duplicateKey p:k: at byte 11: duplicate key \"k\";"),
    (
      [[0xD2, 3, 4, 1, 1], [0x61, 0, 0xE9], [0x62, 0, 0x65, 3, 1]],
      "duplicateKey p:k: at byte 18: duplicate key \"é\";"
    ),
    ([[0xD1, 3, 1], [0x10, 5]], "wrongType p:k: at byte 16: a key is not a string"),
    (
      [[0x14] + Array(repeating: 0, count: 7) + [1] + Array(repeating: 0xFF, count: 8)],
      "integerOutOfRange p:k: at byte 13: this integer"
    ),
    (
      [[0x5F, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7)],
      "malformedBinary p:k: at byte 13: this property list is damaged: an object extends"
    ),
    (
      [[0x5F, 0x51, 0x31]],
      "malformedBinary p:k: at byte 13: this property list is damaged: a count"
    ),
  ]

  @Test(arguments: bad)
  func whatCannotBeKeptIsRefusedAtItsByte(_ objects: [[UInt8]], _ expected: String) {
    let result = outcome(of: binary([root, text("k")] + objects))
    #expect(result.hasPrefix(expected), "\(result)")
    #expect(result.contains("; "))
  }

  @Test func anObjectLiesBetweenTheHeadAndTheTable() {
    let bytes = binary(root, text("k"), [0x09])
    // The offsets are one byte each; this one is the last object's.
    let (entry, table) = (bytes.count - 33, UInt8(bytes.count - 35))
    for offset in [0, 1, 7, table, table + 1, 0xFF] as [UInt8] {
      var moved = bytes
      moved[entry] = offset
      let result = outcome(of: moved)
      #expect(result.contains("the offset of an object is out of range"), "\(offset): \(result)")
    }
  }

  @Test func aTrailerThatContradictsItsFileIsRefused() {
    for (index, byte) in [6: 0, 7: 0, 15: 9, 23: 3, 31: 0, 24: 0xFF, 8: 0xFF] as [Int: UInt8] {
      let bytes = binary(root, text("k"), [0x08], trailer: [index: byte])
      #expect(outcome(of: bytes).hasPrefix("malformedBinary p: at byte "), "\(index)")
    }
  }

  /// Each level names the next one twice.
  @Test(arguments: [22, 40, 60], [0xA2, 0xD2] as [UInt8])
  func aFewBytesThatMeanAHugeTreeAreRefused(_ depth: Int, _ kind: UInt8) throws {
    var objects: [[UInt8]] = [[0xD1, 1, 3], text("a"), text("b")]
    for level in 0..<depth {
      let next = UInt8(level + 4)
      objects.append(kind == 0xA2 ? [kind, next, next] : [kind, 1, 2, next, next])
    }
    var limits = PropertyListLimits()
    limits.elements = .max
    let bytes = binary(objects + [text("x")])
    try expectLittleWork {
      #expect(outcome(of: bytes, limits).contains(": shared objects expand to more than "))
    }
  }

  /// The keys of a dictionary are read when it is opened, so those of all levels are in memory.
  @Test func theKeysOfOpenDictionariesAreLimitedToo() {
    let count = 4096
    let levels = (0..<6).map { level in
      [0xDF, 0x11, 0x10, 0] + [UInt8](repeating: 7, count: count)
        + [UInt8](repeating: UInt8(level + 1), count: count)
    }
    let bytes = binary(levels + [[0x09], text("a")])
    #expect(outcome(of: bytes).hasPrefix("duplicateKey p:a.a.a.a.a: "))
    var limits = PropertyListLimits()
    limits.elements = 2 * count
    #expect(outcome(of: bytes, limits).hasPrefix("tooManyElements p:a: at byte "))
  }

  @Test func oneTextInManyPlacesIsLimitedToo() {
    let list: [UInt8] = [0xAF, 0x10, 0xFF] + [UInt8](repeating: 3, count: 255)
    let long: [UInt8] = [0x5F, 0x11, 0x7F, 0xFF] + [UInt8](repeating: 0x61, count: 0x7FFF)
    let bytes = binary(root, text("k"), list, long)
    #expect(outcome(of: bytes).hasPrefix("textTooLong p:k["))
    var limits = PropertyListLimits()
    limits.textBytes = 0x7FFE
    #expect(outcome(of: bytes, limits).contains("at byte 271: this is longer than 32766 bytes; "))
  }

  @Test func nestingIsLimitedAsInXML() throws {
    func nested(_ depth: Int) -> [UInt8] {
      let arrays: [[UInt8]] = (0..<depth).map { [0xA1, UInt8($0 + 3)] }
      return binary([root, text("k")] + arrays + [[0x09]])
    }
    #expect(throws: Never.self) { try members(nested(63)) }
    #expect(outcome(of: nested(64)).hasPrefix("tooDeep p:k[0][0]"))
  }

  @Test func everyByteMayBeAnyOther() {
    let original = binary(
      [0xD2, 1, 2, 3, 4], text("k"), text("l"), [0xA2, 1, 5], [0xD1, 1, 6], [0x61, 0, 0xE9],
      [0x33, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(!outcome(of: original).contains("byte"))
    for index in original.indices {
      for byte in UInt8.min...UInt8.max {
        var bytes = original
        bytes[index] = byte
        _ = outcome(of: bytes)
      }
      #expect(!outcome(of: Array(original[..<index])).hasPrefix("{"))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeBundleTools
import KeepsakeSettingsBundle
import KeepsakeValues
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

private func members(_ bytes: [UInt8]) throws -> [String: StoredValue] {
  let members = try PropertyList.storedMembers(ofBinary: bytes, file: "p")
  return Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value) })
}

private func refusal(_ bytes: [UInt8]) -> String {
  do throws(PropertyListError) {
    return "\(try PropertyList.storedMembers(ofBinary: bytes, file: "p"))"
  } catch {
    return "\(error.code.rawValue) \(error.message)"
  }
}

@Suite struct BinaryPropertyListTests {
  @Test func whatFoundationWritesIsReadAsItIs() throws {
    let seed = Chance.seed
    var chance = Chance(seed: seed)
    for _ in Chance.rounds(300) {
      let tree = RandomTree(&chance)
      let data = try PropertyListSerialization.data(
        fromPropertyList: ["k": tree.foundation], format: .binary, options: 0)
      let xml = try PropertyListSerialization.data(
        fromPropertyList: ["k": tree.foundation], format: .xml, options: 0)
      let list = try PropertyList.parse(Array(xml), file: "x")
      do throws(PropertyListError) {
        let expected = try list.storedMembers(file: "x")
        let read = try PropertyList.storedMembers(ofBinary: Array(data), file: "p")
        #expect(read.map(\.value) == expected.map(\.value), "KEEPSAKE_SEED=\(seed)")
      } catch {
        #expect(error.code == .unsignedTooLarge, "KEEPSAKE_SEED=\(seed) \(error)")
      }
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
      (
        [0x33, 0x3F, 0xE0, 0, 0, 0, 0, 0, 0], .date(Date(timeIntervalSinceReferenceDate: 0.5))
      ),
      ([0x42, 1, 2], .data(Data([1, 2]))), (text("a\u{0}b"), "a\u{0}b"),
      ([0x62, 0xD8, 0x3D, 0xDE, 0x00], "😀"), ([0x5F, 0x10, 0x01, 0x61], "a"), ([0xA0], []),
      ([0xA2, 1, 1], ["k", "k"]), ([0xD1, 1, 1], ["k": "k"]),
    ]
    for (object, value) in values {
      #expect(try members(binary(root, text("k"), object)) == ["k": value])
    }
  }

  /// Objects 2 and on, and the complaint.
  static let bad: [([[UInt8]], String)] = [
    ([[0xC1, 1]], "wrongType at byte 13, in k: a store cannot hold a set"),
    ([[0xB1, 1]], "wrongType at byte 13, in k: a store cannot hold a set"),
    ([[0x00]], "wrongType at byte 13, in k: a store cannot hold a null"),
    ([[0x80, 1]], "wrongType at byte 13, in k: a store cannot hold a UID of a keyed archive"),
    ([[0x0C]], "wrongType at byte 13, in k: a store cannot hold a URL"),
    ([[0x70]], "malformedBinary at byte 13, in k: this property list is damaged: unknown type"),
    ([[0x15]], "malformedBinary at byte 13, in k: this property list is damaged: unknown type"),
    (
      [[0x13, 0x80]],
      "malformedBinary at byte 13, in k: this property list is damaged: an object extends"
    ),
    (
      [[0xA1, 9]], "malformedBinary at byte 14, in k[0]: this property list is damaged: a reference"
    ),
    (
      [[0xA1, 3], [0xA1, 2]],
      "malformedBinary at byte 13, in k[0][0]: this property list is damaged: an array or"
    ),
    (
      [[0xA1, 0]], "malformedBinary at byte 8, in k[0]: this property list is damaged: an array or"
    ),
    (
      [[0x61, 0xD8, 0]], "invalidCharacter at byte 13, in k: this string has an unpaired surrogate"
    ),
    ([[0x51, 0x80]], "invalidCharacter at byte 13, in k: this string of ASCII has"),
    ([[0xD1, 3, 1], [0x61, 0xDC, 0]], "invalidCharacter at byte 16, in k: this string has"),
    ([[0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]], "invalidDate at byte 13, in k: this date is not"),
    ([[0x33, 0xFF, 0xF8, 0, 0, 0, 0, 0, 1]], "invalidDate at byte 13, in k: this date is not"),
    ([[0xD2, 1, 1, 1, 1]], "duplicateKey at byte 11, in k.k: duplicate key;"),
    (
      [[0xD2, 3, 4, 1, 1], [0x61, 0, 0xE9], [0x62, 0, 0x65, 3, 1]],
      "duplicateKey at byte 21, in k.e\u{301}: "
    ),
    ([[0xD1, 3, 1], [0x10, 5]], "wrongType at byte 16, in k: a key is not a string"),
    (
      [[0x14, 0, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 8)],
      "unsignedTooLarge at byte 13, in k: this integer"
    ),
    (
      [[0x5F, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7)],
      "malformedBinary at byte 13, in k: this property list is damaged: an object extends"
    ),
    (
      [[0x5F, 0x51, 0x31]],
      "malformedBinary at byte 13, in k: this property list is damaged: a count"
    ),
  ]

  @Test(arguments: bad)
  func whatCannotBeKeptIsRefusedAtItsByte(_ objects: [[UInt8]], _ expected: String) {
    let result = refusal(binary([root, text("k")] + objects))
    #expect(result.hasPrefix(expected), "\(result)")
    #expect(result.contains("; "))
  }

  @Test func aRootThatIsNoTableIsRefused() {
    #expect(refusal(binary([0xA0])).hasPrefix("wrongType at byte 8: the root is not a dictionary"))
    #expect(refusal(binary([0xD1, 1, 1], [0x50])).hasPrefix("emptyKey at byte 8: "))
    for (index, byte) in [6: 0, 7: 0, 15: 9, 23: 3, 31: 0, 24: 0xFF, 8: 0xFF] as [Int: UInt8] {
      let bytes = binary(root, text("k"), [0x08], trailer: [index: byte])
      #expect(refusal(bytes).hasPrefix("malformedBinary at byte "), "\(index)")
    }
  }

  /// Each level names the next one twice.
  @Test(arguments: [22, 40, 60], [0xA2, 0xD2] as [UInt8])
  func aFewBytesThatMeanAHugeTreeAreRefused(_ depth: Int, _ kind: UInt8) {
    var objects: [[UInt8]] = [[0xD1, 1, 3], text("a"), text("b")]
    for level in 0..<depth {
      let next = UInt8(level + 4)
      objects.append(kind == 0xA2 ? [kind, next, next] : [kind, 1, 2, next, next])
    }
    #expect(refusal(binary(objects + [text("x")])).hasPrefix("tooManyElements at byte "))
  }

  @Test func oneTextInManyPlacesIsLimitedToo() {
    let list: [UInt8] = [0xAF, 0x10, 0xFF] + [UInt8](repeating: 3, count: 255)
    let long: [UInt8] = [0x5F, 0x11, 0x7F, 0xFF] + [UInt8](repeating: 0x61, count: 0x7FFF)
    #expect(refusal(binary(root, text("k"), list, long)).hasPrefix("textTooLong at byte "))
  }

  @Test func nestingEndsWhereStoredValuesDo() throws {
    func nested(_ depth: Int) -> [UInt8] {
      binary([root, text("k")] + (0..<depth).map { [0xA1, UInt8($0 + 3)] } + [[0x09]])
    }
    #expect(try members(nested(64)).count == 1)
    #expect(refusal(nested(65)).hasPrefix("tooDeep at byte "))
  }

  @Test func everyByteMayBeAnyOther() {
    let original = binary(
      [0xD2, 1, 2, 3, 4], text("k"), text("l"), [0xA2, 1, 5], [0xD1, 1, 6], [0x61, 0, 0xE9],
      [0x33, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(!refusal(original).contains("byte"))
    for index in original.indices {
      for byte in UInt8.min...UInt8.max {
        var bytes = original
        bytes[index] = byte
        _ = refusal(bytes)
      }
      #expect(refusal(Array(original[..<index])).contains("damaged"))
    }
  }
}

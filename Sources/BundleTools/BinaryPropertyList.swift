// SPDX-License-Identifier: Apache-2.0
//
// Binary property lists, such as the files of `UserDefaults` on a Mac. The format is that of
// CoreFoundation's CFBinaryPList.c, big-endian: "bplist00", objects, a table of their offsets, and
// a trailer of 32 bytes with the table's offset and the widths of its numbers. An object is a
// marker byte, its kind in the high half, and its content; containers refer to their elements by
// number.
//
// Containers may share elements, so a small file can describe a huge tree, or an infinite one.
// Foundation builds that tree at any cost, crashes on sets and silently converts what it cannot
// represent, so this reads the file itself.
//
// Invariants: objects are read only between the header and the table; `open` has the containers
// around the current object, at most the root and `StoredValue.maximumDepth` more.

package import KeepsakeSettingsBundle
package import KeepsakeValues

extension PropertyList {
  /// Whether the bytes start like a binary property list.
  package static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.matches("bplist", at: 0) }

  /// The members of a binary property list's root as stored values, sorted by the bytes of their
  /// keys. O(n log n) in the file and in the tree, whose size is limited.
  ///
  /// - Throws: `PropertyListError` with the byte of damage or of a value that no store can hold.
  package static func storedMembers(
    ofBinary bytes: [UInt8], file: String, limits: PropertyListLimits = PropertyListLimits()
  ) throws(PropertyListError) -> [(key: String, value: StoredValue)] {
    guard bytes.count <= limits.effectiveBytes else {
      throw .tooLarge(file: file, limit: limits.effectiveBytes)
    }
    var list = BinaryPropertyList(bytes, limits)
    do throws(Fault) {
      return try list.members().sorted { ByteText($0.key) < ByteText($1.key) }
    } catch {
      let place = KeyPathText(list.steps).text
      let shown = place.map { ", in " + ($0.count > 80 ? "\($0.prefix(80))…" : $0) }
      throw PropertyListError(
        error.code, file: file, keyPath: place,
        "at byte \(error.offset)\(shown ?? ""): \(error.what)", cure: error.cure)
    }
  }
}

struct BinaryPropertyList {
  let bytes: [UInt8]
  let limits: PropertyListLimits
  private var table = 8
  private var offsetSize = 1
  private(set) var numberSize = 1
  private var objects = 0
  var open: [Int] = []
  /// The key path of the current object.
  var steps: [KeyPathText.Step] = []
  var elements = 0
  var textBytes = 0

  init(_ bytes: [UInt8], _ limits: PropertyListLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  mutating func members() throws(Fault) -> [(key: String, value: StoredValue)] {
    let root = try trailer()
    let start = try offset(of: root)
    guard bytes[start] >> 4 == 0xD else {
      throw Fault(
        .wrongType, at: start, "the root is not a dictionary", cure: "wrap the value in one")
    }
    let members = try dictionary(root, at: start)
    guard members.allSatisfy({ !$0.key.isEmpty }) else {
      throw Fault(.emptyKey, at: start, "a key is empty", cure: "give it a name")
    }
    return members
  }

  /// - Returns: the number of the root object.
  private mutating func trailer() throws(Fault) -> Int {
    let start = bytes.count - 32
    guard start > 8, bytes.matches("bplist0", at: 0) else {
      throw damage(at: 0, "it is truncated, or has an unknown version")
    }
    (offsetSize, numberSize) = (Int(bytes[start + 6]), Int(bytes[start + 7]))
    let numbers = [8, 16, 24].map { Int(clamping: number(at: start + $0, size: 8)) }
    (objects, table) = (numbers[0], numbers[2])
    let (size, overflows) = objects.multipliedReportingOverflow(by: offsetSize)
    guard (1...8).contains(offsetSize), (1...8).contains(numberSize), numbers[1] < objects,
      !overflows,
      table > 8, table <= start, start - table == size
    else { throw damage(at: start, "its trailer contradicts its length") }
    return numbers[1]
  }
}

// MARK: - Bytes

extension BinaryPropertyList {
  /// A big-endian number of at most eight bytes, which have to be there.
  func number(at start: Int, size: Int) -> UInt64 {
    bytes[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The number of the object that is named at `index`.
  func reference(at index: Int) throws(Fault) -> Int {
    let object = Int(clamping: number(at: index, size: numberSize))
    guard object < objects else {
      throw damage(at: index, "a reference is to an object that does not exist")
    }
    return object
  }

  func offset(of object: Int) throws(Fault) -> Int {
    let entry = table + object * offsetSize
    let offset = Int(clamping: number(at: entry, size: offsetSize))
    guard (8..<table).contains(offset) else {
      throw damage(at: entry, "the offset of an object is out of range")
    }
    return offset
  }

  /// The range of `count` parts of `size` bytes each from `index`, for the object at `start`.
  func content(
    of start: Int, behind index: Int, _ count: UInt64, size: Int
  ) throws(Fault) -> Range<Int> {
    guard index <= table, count <= UInt64((table - index) / size) else {
      throw damage(at: start, "an object extends past its end")
    }
    return index..<index + Int(count) * size
  }

  /// The range of the content whose count is in the low half of the marker, or in an integer after
  /// it.
  func content(of start: Int, size: Int) throws(Fault) -> Range<Int> {
    let low = bytes[start] & 0xF
    if low < 0xF { return try content(of: start, behind: start + 1, UInt64(low), size: size) }
    let marker = try content(of: start, behind: start + 1, 1, size: 1)
    guard (0x10...0x13).contains(bytes[start + 1]) else {
      throw damage(at: start, "a count is not an integer")
    }
    let width = 1 << Int(bytes[start + 1] & 0xF)
    let count = try content(of: start, behind: marker.upperBound, 1, size: width)
    return try content(
      of: start, behind: count.upperBound, number(at: count.lowerBound, size: width), size: size)
  }

  func damage(at offset: Int, _ what: String) -> Fault {
    Fault(
      .malformedBinary, at: offset, "this property list is damaged: \(what)",
      cure: "restore a copy")
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Binary property lists, such as the files of `UserDefaults` on a Mac. The format is that of
// CoreFoundation's CFBinaryPList.c: "bplist00", objects, a table of their offsets, and a trailer of
// 32 bytes that says where the table is and how wide its numbers are, all big-endian. An object is
// a marker, its kind in the high half, and what belongs to it; containers name their elements by
// number.
//
// Several may name the same one, so that a small file can mean a huge tree, or one without end.
// Foundation makes that tree whatever it costs, crashes on sets, and changes what it does not
// understand, so this reads the file itself.
//
// Invariants: every read lies between the header and the table; `open` are the containers around
// the current object, at most `StoredValue.maximumDepth` and the root.

package import KeepsakeSettingsBundle
package import KeepsakeValues

extension PropertyList {
  /// Whether these are the bytes of a binary property list.
  package static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.matches("bplist", at: 0) }

  /// The members of a binary property list's root as a store keeps them, by the bytes of their
  /// keys. O(n log n) in the file and in the tree, whose size is limited.
  ///
  /// - Throws: `PropertyListError` that names the byte, for damage and what no store can hold.
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
      let place = list.path.text
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
  var steps: [Step] = []
  var elements = 0
  var textBytes = 0

  enum Step { case key(String), index(Int) }

  init(_ bytes: [UInt8], _ limits: PropertyListLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  /// The members that lead to the current object.
  var path: KeyPathText {
    steps.reduce(into: KeyPathText()) { path, step in
      switch step {
      case .key(let key): path.append(key: key)
      case .index(let index): path.append(index: index)
      }
    }
  }

  mutating func members() throws(Fault) -> [(key: String, value: StoredValue)] {
    let root = try trailer()
    let start = try offset(of: root)
    guard bytes[start] >> 4 == 0xD else {
      throw Fault(
        .wrongType, at: start, "the root is not a dictionary", cure: "put the value into one")
    }
    let members = try dictionary(root, at: start)
    guard members.allSatisfy({ !$0.key.isEmpty }) else {
      throw Fault(.emptyKey, at: start, "a key is empty", cure: "give it a name")
    }
    return members
  }

  /// - Returns: the number of the root.
  private mutating func trailer() throws(Fault) -> Int {
    let start = bytes.count - 32
    guard start > 8, bytes.matches("bplist0", at: 0) else {
      throw damage(at: 0, "it is cut short, or of an unknown version")
    }
    (offsetSize, numberSize) = (Int(bytes[start + 6]), Int(bytes[start + 7]))
    let numbers = [8, 16, 24].map { Int(clamping: number(at: start + $0, size: 8)) }
    (objects, table) = (numbers[0], numbers[2])
    let (size, overflows) = objects.multipliedReportingOverflow(by: offsetSize)
    guard (1...8).contains(offsetSize), (1...8).contains(numberSize), numbers[1] < objects,
      !overflows,
      table > 8, table <= start, start - table == size
    else { throw damage(at: start, "its trailer does not fit its length") }
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
    guard object < objects else { throw damage(at: index, "it names an object that is not there") }
    return object
  }

  func offset(of object: Int) throws(Fault) -> Int {
    let entry = table + object * offsetSize
    let offset = Int(clamping: number(at: entry, size: offsetSize))
    guard (8..<table).contains(offset) else {
      throw damage(at: entry, "an object lies outside of it")
    }
    return offset
  }

  /// Where `count` things of some bytes each are, that follow the marker at `start`.
  func content(
    of start: Int, behind index: Int, _ count: UInt64, size: Int
  ) throws(Fault) -> Range<Int> {
    guard index <= table, count <= UInt64((table - index) / size) else {
      throw damage(at: start, "an object ends outside of it")
    }
    return index..<index + Int(count) * size
  }

  /// The same where the count is in the low half of the marker, or in an integer behind it.
  func content(of start: Int, size: Int) throws(Fault) -> Range<Int> {
    let low = bytes[start] & 0xF
    if low < 0xF { return try content(of: start, behind: start + 1, UInt64(low), size: size) }
    let marker = try content(of: start, behind: start + 1, 1, size: 1)
    guard (0x10...0x13).contains(bytes[start + 1]) else {
      throw damage(at: start, "a count is no integer")
    }
    let width = 1 << Int(bytes[start + 1] & 0xF)
    let count = try content(of: start, behind: marker.upperBound, 1, size: width)
    return try content(
      of: start, behind: count.upperBound, number(at: count.lowerBound, size: width), size: size)
  }

  func damage(at offset: Int, _ what: String) -> Fault {
    Fault(
      .malformedBinary, at: offset, "this property list is damaged: \(what)",
      cure: "restore a copy of it")
  }
}

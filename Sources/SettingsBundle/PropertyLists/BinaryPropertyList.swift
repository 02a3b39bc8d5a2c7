// SPDX-License-Identifier: Apache-2.0
//
// Binary property lists: Xcode compiles the lists and strings of an application to this format, and
// on a Mac `UserDefaults` writes its files in it. The format is that of CoreFoundation's
// CFBinaryPList.c, big-endian: "bplist00", objects, a table of their offsets, and a trailer of 32
// bytes with the table's offset and the widths of its numbers. An object is a marker byte, with its
// kind in the high half, and its content; containers refer to their elements by number.
//
// Containers may share elements, so a small file can describe a huge tree, or an infinite one.
// Foundation builds that tree at any cost, crashes on sets and silently converts what it cannot
// represent, so this reads the file itself. Members are sorted: their order in the file is that of
// a hash table.
//
// Invariants:
// - objects are read only between the header and the table;
// - `stack` has the open containers, at most `limits.effectiveDepth`, and no object twice;
// - `elements` counts every value, and every key once its dictionary is opened, so that it bounds
//   the memory of `stack` too.

import KeepsakeValues

struct BinaryPropertyList {
  let bytes: [UInt8]
  let limits: PropertyListLimits
  private var table = 8
  private var offsetSize = 1
  private var numberSize = 1
  private var objects = 0
  private var stack: [Open] = []
  private var root: PropertyListNode?
  private(set) var elements = 0
  /// The number of the next key or value, which serves as its offset: one object may be in several
  /// places.
  private var number: UInt32 = 0
  /// The bytes of all strings and data.
  var textBytes = 0

  /// An array or a dictionary that is still open.
  private struct Open {
    let object: Int
    var frame: PropertyListFrame
    /// Sorted; empty for an array.
    let keys: [Key]
    /// The bytes that refer to the elements of an array.
    let references: Range<Int>
    /// The number of elements that were read.
    var next = 0
  }

  private struct Key {
    let text: String
    let offset: Int
    /// The byte of the reference to its value.
    let reference: Int
  }

  init(_ bytes: [UInt8], limits: PropertyListLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  mutating func document() throws(Fault) -> PropertyListNode {
    try value(try trailer())
    while !stack.isEmpty { try step() }
    guard let root else { throw damage(at: 0, "it has no value") }
    return root
  }

  /// The key path of the reader's position; nil at the root.
  var keyPath: String? { PropertyListFrame.keyPath(of: stack.map(\.frame)) }

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

  // MARK: - Containers

  /// The index of the innermost open container. `stack` must not be empty.
  private var top: Int { stack.count - 1 }

  /// Reads the next element of the innermost container, or closes it.
  private mutating func step() throws(Fault) {
    let index = stack[top].next
    stack[top].next += 1
    if !stack[top].frame.isDictionary {
      let place = stack[top].references.lowerBound + index * numberSize
      guard place < stack[top].references.upperBound else { return close() }
      return try value(reference(at: place))
    }
    guard index < stack[top].keys.count else { return close() }
    let key = stack[top].keys[index]
    do throws(Fault) {
      try stack[top].frame.open(key: key.text, at: takeNumber())
    } catch {
      throw Fault(error.code, at: key.offset, error.what, cure: error.cure)
    }
    try value(reference(at: key.reference))
  }

  private mutating func value(_ object: Int) throws(Fault) {
    let start = try offset(of: object)
    try count(at: start)
    switch bytes[start] >> 4 {
    case 0xA, 0xD: try open(object, at: start)
    default:
      let value = try scalar(at: start)
      place(PropertyListNode(offset: takeNumber(), value))
    }
  }

  private mutating func place(_ node: PropertyListNode) {
    if stack.isEmpty {
      root = node
    } else {
      stack[top].frame.place(node)
    }
  }

  private mutating func open(_ object: Int, at start: Int) throws(Fault) {
    guard !stack.contains(where: { $0.object == object }) else {
      throw damage(at: start, "an array or dictionary contains itself")
    }
    guard stack.count < limits.effectiveDepth else {
      throw Fault(
        .tooDeep, at: start, "arrays and dictionaries nest deeper than \(limits.effectiveDepth)",
        cure: "flatten the file, or raise the limit")
    }
    let isDictionary = bytes[start] >> 4 == 0xD
    let references = try content(of: start, size: isDictionary ? 2 * numberSize : numberSize)
    let keys = isDictionary ? try keys(references) : []
    let frame = PropertyListFrame(isDictionary: isDictionary, offset: takeNumber())
    stack.append(Open(object: object, frame: frame, keys: keys, references: references))
  }

  private mutating func keys(_ references: Range<Int>) throws(Fault) -> [Key] {
    var keys: [Key] = []
    let middle = references.count / 2
    for index in stride(from: 0, to: middle, by: numberSize) {
      let start = try offset(of: reference(at: references.lowerBound + index))
      try count(at: start)
      guard (5...6).contains(bytes[start] >> 4) else {
        throw Fault(.wrongType, at: start, "a key is not a string", cure: "make it a string")
      }
      let place = references.lowerBound + middle + index
      keys.append(Key(text: try string(at: start), offset: start, reference: place))
    }
    return keys.sorted { ByteText($0.text) < ByteText($1.text) }
  }

  private mutating func close() {
    let open = stack.removeLast()
    place(PropertyListNode(offset: open.frame.offset, open.frame.value))
  }

  private mutating func takeNumber() -> UInt32 {
    defer { number += 1 }
    return number
  }

  /// Counts the element of the object at `start`.
  private mutating func count(at start: Int) throws(Fault) {
    elements += 1
    guard elements <= limits.elements else {
      throw Fault(
        .tooManyElements, at: start, "the file has more than \(limits.elements) elements",
        cure: "split it, or raise the limit")
    }
    // A tree without shared objects has at most one element per byte. Without a limit on sharing, a
    // few hundred bytes could expand to fill the memory.
    let most = min(bytes.count + PropertyListLimits().elements, Int(UInt32.max))
    guard elements <= most else {
      throw Fault(
        .tooManyElements, at: start,
        "shared objects expand to more than \(most) elements", cure: "convert the file to XML")
    }
  }

  // MARK: - Bytes

  /// A big-endian number of at most eight bytes, which must be within the file.
  func number(at start: Int, size: Int) -> UInt64 {
    bytes[start..<start + size].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The number of the object that the reference at `index` names.
  private func reference(at index: Int) throws(Fault) -> Int {
    let object = Int(clamping: number(at: index, size: numberSize))
    guard object < objects else {
      throw damage(at: index, "a reference is to an object that does not exist")
    }
    return object
  }

  private func offset(of object: Int) throws(Fault) -> Int {
    let entry = table + object * offsetSize
    let offset = Int(clamping: number(at: entry, size: offsetSize))
    guard (8..<table).contains(offset) else {
      throw damage(at: entry, "the offset of an object is out of range")
    }
    return offset
  }

  /// The range of `count` parts of `size` bytes each from `index`, for the object at `start`.
  func content(
    of start: Int, from index: Int, count: UInt64, size: Int
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
    if low < 0xF {
      return try content(of: start, from: start + 1, count: UInt64(low), size: size)
    }
    let marker = try content(of: start, from: start + 1, count: 1, size: 1)
    guard (0x10...0x13).contains(bytes[start + 1]) else {
      throw damage(at: start, "a count is not an integer")
    }
    let width = 1 << Int(bytes[start + 1] & 0xF)
    let count = try content(of: start, from: marker.upperBound, count: 1, size: width)
    return try content(
      of: start, from: count.upperBound, count: number(at: count.lowerBound, size: width),
      size: size)
  }

  func damage(at offset: Int, _ what: String) -> Fault {
    Fault(
      .malformedBinary, at: offset, "this property list is damaged: \(what)",
      cure: "restore a copy")
  }
}

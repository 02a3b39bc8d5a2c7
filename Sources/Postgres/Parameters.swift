// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  /// The arguments of a statement, in PostgreSQL's binary form.
  package struct Parameters {
    /// Never empty, so that a value of no bytes has an address: without one it would be NULL.
    private(set) var bytes: [UInt8] = [0]
    /// The range of each argument in `bytes`.
    private(set) var places: [Range<Int>] = []

    package init() {}

    package init(_ numbers: Int64..., bytes blob: [UInt8]? = nil) {
      for number in numbers { append(number) }
      if let blob { append(blob) }
    }

    mutating func append(_ number: Int64) { add { Self.write(number, &$0) } }

    mutating func append(_ blob: [UInt8]) { add { $0 += blob } }

    package mutating func append(_ text: String) { add { $0 += text.utf8 } }

    mutating func append(numbers: some Collection<Int64>) {
      append(array: numbers, of: 20) { Self.write($0, &$1) }
    }

    mutating func append(blobs: some Collection<[UInt8]>) {
      append(array: blobs, of: 17) { $1 += $0 }
    }

    private mutating func append<Items: Collection>(
      array: Items, of type: Int32, _ write: (Items.Element, inout [UInt8]) -> Void
    ) {
      add { bytes in
        Self.head(array.count, of: type, &bytes)
        for item in array {
          let start = bytes.count
          Self.write(Int32(0), &bytes)
          write(item, &bytes)
          let count = UInt32(bytes.count - start - 4)
          for place in 0..<4 {
            bytes[start + place] = UInt8(truncatingIfNeeded: count >> (24 - 8 * UInt32(place)))
          }
        }
      }
    }

    private mutating func add(_ body: (inout [UInt8]) -> Void) {
      let start = bytes.count
      body(&bytes)
      places.append(start..<bytes.count)
    }

    /// Writes an array's head: dimensions, whether it has NULLs, type, count, first index.
    private static func head(_ count: Int, of type: Int32, _ bytes: inout [UInt8]) {
      for number in count == 0 ? [0, 0, type] : [1, 1, type, Int32(count), 1] {
        write(number, &bytes)
      }
    }

    static func write(_ number: some FixedWidthInteger, _ bytes: inout [UInt8]) {
      withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
  }
#endif

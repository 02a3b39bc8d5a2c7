// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeValues

  /// The arguments of a statement, in PostgreSQL's binary form.
  package struct Parameters {
    /// Never empty, so that a value of no bytes has an address: without one it would be NULL.
    private(set) var bytes: [UInt8] = [0]
    /// Where each is; nil for NULL.
    private(set) var places: [Range<Int>?] = []

    package init() {}

    init(_ numbers: Int64...) { for number in numbers { append(number) } }

    mutating func append(_ number: Int64?) {
      guard let number else {
        places.append(nil)
        return
      }
      add { Self.write(number, &$0) }
    }

    mutating func append(_ blob: [UInt8]) { add { $0 += blob } }

    mutating func append(_ text: String) { add { $0 += text.utf8 } }

    mutating func append(numbers: some Collection<Int64>) {
      append(array: numbers, of: 20) { Self.write($0, &$1) }
    }

    mutating func append(optionals: some Collection<Int64?>) {
      add { bytes in
        Self.head(optionals.count, of: 20, &bytes)
        for number in optionals {
          Self.write(Int32(number == nil ? -1 : 8), &bytes)
          if let number { Self.write(number, &bytes) }
        }
      }
    }

    mutating func append(texts: some Collection<ByteText>) {
      append(array: texts, of: 17) { $1 += $0.string.utf8 }
    }

    mutating func append(values: some Collection<Cell>) {
      append(array: values, of: 17) { $0.write(to: &$1) }
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

    /// Dimensions, whether there may be NULL, the elements' type, how many, the first index.
    private static func head(_ count: Int, of type: Int32, _ bytes: inout [UInt8]) {
      for number in count == 0 ? [0, 0, type] : [1, 1, type, Int32(count), 1] {
        write(number, &bytes)
      }
    }

    static func write(_ number: some FixedWidthInteger, _ bytes: inout [UInt8]) {
      withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
  }

  extension Cell {
    /// As `kind` stands in the tables.
    var kind: Int64 {
      switch self {
      case .null: 0
      case .integer: 1
      case .real: 2
      case .text: 3
      case .blob: 4
      }
    }

    func write(to bytes: inout [UInt8]) {
      switch self {
      case .null: break
      case .integer(let number): Parameters.write(number, &bytes)
      case .real(let number): Parameters.write(number.bitPattern, &bytes)
      case .text(let text): bytes += text.utf8
      case .blob(let data): bytes += data
      }
    }

    /// Nil for what no version writes.
    init?(kind: Int64, _ bytes: UnsafeRawBufferPointer) {
      switch kind {
      case 0: self = .null
      case 1 where bytes.count == 8:
        self = .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
      case 2 where bytes.count == 8:
        self = .real(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
      case 3: self = .text(String(decoding: bytes, as: UTF8.self))
      case 4: self = .blob(Data(bytes))
      default: return nil
      }
    }
  }
#endif

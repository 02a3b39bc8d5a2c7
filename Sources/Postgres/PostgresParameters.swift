// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer

  /// The arguments of a statement, in PostgreSQL's binary form.
  struct PostgresParameters {
    /// Never empty, so that a value of no bytes has an address: without one it would be NULL.
    private(set) var bytes: [UInt8] = [0]
    /// The range of each argument in `bytes`.
    private(set) var ranges: [Range<Int>] = []

    init(_ cells: [HubCell]) {
      for cell in cells {
        let start = bytes.count
        switch cell {
        case .number(let number): append(number)
        case .bytes(let blob): bytes += blob
        case .numbers(let numbers): append(numbers, ofType: 20) { $0.append($1) }
        case .blobs(let blobs): append(blobs, ofType: 17) { $0.bytes += $1 }
        }
        ranges.append(start..<bytes.count)
      }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    /// Appends an array: dimensions, whether it has NULLs, type, count, first index, and each item
    /// behind its size.
    private mutating func append<Item>(
      _ items: [Item], ofType type: Int32, _ write: (inout Self, Item) -> Void
    ) {
      let head = items.isEmpty ? [0, 0, type] : [1, 1, type, Int32(items.count), 1]
      for number in head { append(number) }
      for item in items {
        let start = bytes.count
        append(Int32(0))
        write(&self, item)
        let size = Int32(bytes.count - start - 4)
        withUnsafeBytes(of: size.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
      }
    }
  }
#endif

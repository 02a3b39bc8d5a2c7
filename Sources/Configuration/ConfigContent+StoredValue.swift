// SPDX-License-Identifier: Apache-2.0

#if Configuration
  import Configuration
  import Keepsake

  extension ValueInForce {
    /// The first content of that type that the value, or another reading of it, has; nil for none.
    func content(as type: ConfigType) -> ConfigContent? {
      value.content(as: type) ?? others.lazy.compactMap { $0.content(as: type) }.first
    }
  }

  extension StoredValue {
    /// The value as swift-configuration has it; nil for one of another type. No type is taken for
    /// another, but for a whole number where a decimal one is asked for that is exactly the same.
    func content(as type: ConfigType) -> ConfigContent? {
      switch type {
      case .string: text.map(ConfigContent.string)
      case .int: whole.map(ConfigContent.int)
      case .double: number.map(ConfigContent.double)
      case .bool: flag.map(ConfigContent.bool)
      case .bytes: bytes.map(ConfigContent.bytes)
      case .stringArray: elements(\.text).map(ConfigContent.stringArray)
      case .intArray: elements(\.whole).map(ConfigContent.intArray)
      case .doubleArray: elements(\.number).map(ConfigContent.doubleArray)
      case .boolArray: elements(\.flag).map(ConfigContent.boolArray)
      case .byteChunkArray: elements(\.bytes).map(ConfigContent.byteChunkArray)
      }
    }

    private var text: String? {
      if case .string(let text) = self { text } else { nil }
    }

    private var whole: Int? {
      if case .integer(let number) = self { Int(exactly: number) } else { nil }
    }

    private var number: Double? {
      switch self {
      case .real(let number): number
      case .integer(let number): Double(exactly: number)
      default: nil
      }
    }

    private var flag: Bool? {
      if case .boolean(let flag) = self { flag } else { nil }
    }

    private var bytes: [UInt8]? {
      if case .data(let bytes) = self { Array(bytes) } else { nil }
    }

    private func elements<Element>(_ element: (StoredValue) -> Element?) -> [Element]? {
      guard case .array(let all) = self else { return nil }
      let elements = all.compactMap(element)
      return elements.count == all.count ? elements : nil
    }
  }

  extension ConfigContent {
    /// The value as a store has it.
    var stored: StoredValue {
      switch self {
      case .string(let text): .string(text)
      case .int(let number): .integer(Int64(number))
      case .double(let number): .real(number)
      case .bool(let flag): .boolean(flag)
      case .bytes(let bytes): .data(Data(bytes))
      case .stringArray(let texts): .array(texts.map(StoredValue.string))
      case .intArray(let numbers): .array(numbers.map { .integer(Int64($0)) })
      case .doubleArray(let numbers): .array(numbers.map(StoredValue.real))
      case .boolArray(let flags): .array(flags.map(StoredValue.boolean))
      case .byteChunkArray(let chunks): .array(chunks.map { .data(Data($0)) })
      }
    }
  }
#endif

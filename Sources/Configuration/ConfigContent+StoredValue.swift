// SPDX-License-Identifier: Apache-2.0

#if Configuration
  import Configuration
  import Keepsake

  extension ValueInForce {
    /// The value, or the first other reading of it, that converts to the type; nil if none does.
    func content(as type: ConfigType) -> ConfigContent? {
      value.content(as: type) ?? otherReadings.lazy.compactMap { $0.content(as: type) }.first
    }
  }

  extension StoredValue {
    /// The value as content of swift-configuration; nil if it has another type. The only conversion
    /// is that of an integer to a Double that represents it exactly.
    func content(as type: ConfigType) -> ConfigContent? {
      switch type {
      case .string: read().map(ConfigContent.string)
      case .int: read().map(ConfigContent.int)
      case .double: read().map(ConfigContent.double)
      case .bool: read().map(ConfigContent.bool)
      case .bytes: read(Data.self).map { .bytes(Array($0)) }
      case .stringArray: read().map(ConfigContent.stringArray)
      case .intArray: read().map(ConfigContent.intArray)
      case .doubleArray: read().map(ConfigContent.doubleArray)
      case .boolArray: read().map(ConfigContent.boolArray)
      case .byteChunkArray: read([Data].self).map { .byteChunkArray($0.map(Array.init)) }
      }
    }

    private func read<Value: BackingStoreConvertible>(_ type: Value.Type = Value.self) -> Value? {
      switch Result(catching: { try Value.fromBackingStore(self) }) {
      case .success(let value): value
      case .failure: nil
      }
    }
  }

  extension ConfigContent {
    /// The value as a store keeps it.
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

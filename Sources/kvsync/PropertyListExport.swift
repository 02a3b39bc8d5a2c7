// SPDX-License-Identifier: Apache-2.0

import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeSettingsBundle
import KeepsakeValues

/// The values of one store as an XML property list: a dictionary of its keys.
struct PropertyListExport {
  private let device: Device
  private let file: String

  init(_ device: Device, _ file: String) {
    self.device = device
    self.file = file
  }

  /// - Throws: `InputError`, with the key, for what a property list cannot hold.
  func text(of store: String?) throws -> String {
    var entries: [(key: String, value: StoredValue)] = []
    try device.forEachEntry(store: store ?? StoreName.cloud) { entry in
      if let value = entry.content.value { entries.append((entry.address.key.string, value)) }
    }
    let members = try entries.map { try member($0.key, $0.value) }
    do throws(PropertyListWriteError) {
      return String(decoding: try PropertyList.write(.dictionary(members)), as: UTF8.self)
    } catch {
      throw fail(error.keyPath ?? "", "\(error.message), or export as jsonl")
    }
  }

  private func member(_ key: String, _ value: StoredValue) throws -> PropertyListNode.Member {
    do throws(ValueError) {
      let node = PropertyListNode(offset: 0, try PropertyListNode.Value(storing: value))
      return PropertyListNode.Member(key: key, keyOffset: 0, value: node)
    } catch {
      throw fail(Shown.name(key), "\(error.description); export as jsonl")
    }
  }

  private func fail(_ place: String, _ message: String) -> InputError {
    InputError(kind: .data, message: "\(file): \(place): \(message)")
  }
}

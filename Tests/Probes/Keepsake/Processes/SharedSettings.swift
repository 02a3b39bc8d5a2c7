// SPDX-License-Identifier: Apache-2.0

import Faults
import Keepsake

/// The settings of a writer that is killed.
final class SharedSettings: SyncedSettings, @unchecked Sendable {
  @Setting var count = 0
  @Setting var name = ""
  @Setting var ratio = 0.0
  @Setting var tags: [String] = []

  func apply(_ changes: [WriterSteps.Change], as work: VictimWork) throws {
    switch work {
    case .transactions:
      try transaction { for change in changes { try write(change.value, for: change.key) } }
    case .typed:
      for change in changes { assign(change) }
      try demand(failures.isEmpty, "\(failures)")
    default: for change in changes { try write(change.value, for: change.key) }
    }
  }

  private func assign(_ change: WriterSteps.Change) {
    switch (change.key, change.value) {
    case (_, .integer(let number)?): count = Int(number)
    case (_, .string(let text)?): name = text
    case (_, .real(let number)?): ratio = number
    case (_, .array(let elements)?): tags = elements.compactMap(\.string)
    default: break
    }
  }

  func contents(of keys: [String]) throws -> SettingsContents {
    var contents = SettingsContents()
    // `read` would return the defaults of properties too.
    for key in keys {
      let entry = try device.entry(store: StoreName.cloud, key: key)
      contents[key] = entry?.content.ifValue?.value.map { "\($0)" }
    }
    return contents
  }
}

extension StoredValue {
  fileprivate var string: String? {
    if case .string(let text) = self { text } else { nil }
  }
}

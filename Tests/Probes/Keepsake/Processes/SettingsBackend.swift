// SPDX-License-Identifier: Apache-2.0

import Faults
import Foundation
import Keepsake

/// The settings of a writer that is killed.
protocol BackendSettings {
  func apply(_ changes: [WriterSteps.Change], as work: VictimWork) throws
  func contents(of keys: [String]) throws -> SettingsContents
}

extension SettingsBackend {
  /// - Parameter folder: for `UserDefaults` the process must have it as `XDG_CONFIG_HOME`.
  func open(in folder: String) throws -> any BackendSettings {
    switch self {
    case .keepsake:
      try SharedSettings(on: Device(path: KillRound.path("a", in: folder), access: .existing))
    case .userDefaults: FoundationSettings(synchronizes: false)
    case .synchronized: FoundationSettings(synchronizes: true)
    }
  }
}

final class SharedSettings: SyncedSettings, @unchecked Sendable, BackendSettings {
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
      try demand(errors.isEmpty, "\(errors)")
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

struct FoundationSettings: BackendSettings {
  private let defaults = UserDefaults(suiteName: Program.name) ?? .standard
  let synchronizes: Bool

  init(synchronizes: Bool) { self.synchronizes = synchronizes }

  func apply(_ changes: [WriterSteps.Change], as work: VictimWork) throws {
    for (key, value) in changes {
      switch value {
      case .integer(let number)?: defaults.set(Int(number), forKey: key)
      case .string(let text)?: defaults.set(text, forKey: key)
      case .real(let number)?: defaults.set(number, forKey: key)
      case .array(let elements)?: defaults.set(elements.compactMap(\.string), forKey: key)
      default: defaults.removeObject(forKey: key)
      }
    }
    if synchronizes { try demand(defaults.synchronize(), "synchronize() fails") }
  }

  func contents(of keys: [String]) throws -> SettingsContents {
    var contents = SettingsContents()
    for key in keys {
      let value: StoredValue? =
        switch key {
        case "ratio": defaults.object(forKey: key).map { _ in .real(defaults.double(forKey: key)) }
        case "count":
          defaults.object(forKey: key).map { _ in .integer(Int64(defaults.integer(forKey: key))) }
        case "tags": defaults.stringArray(forKey: key).map { .array($0.map { .string($0) }) }
        default: defaults.string(forKey: key).map { .string($0) }
        }
      contents[key] = value.map { "\($0)" }
    }
    return contents
  }
}

extension StoredValue {
  fileprivate var string: String? {
    if case .string(let text) = self { text } else { nil }
  }
}

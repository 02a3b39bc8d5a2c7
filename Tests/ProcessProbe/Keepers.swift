// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake

/// What both have to do.
protocol Settings {
  func apply(_ changes: [Steps.Change], as work: Work) throws
  func contents(of keys: [String]) throws -> Contents
}

extension Keeper {
  /// - Parameter folder: for `UserDefaults` the process must have it as `XDG_CONFIG_HOME`.
  func open(in folder: String) throws -> any Settings {
    switch self {
    case .keepsake:
      try SharedSettings(on: Device(path: Round.path("a", in: folder), access: .existing))
    case .userDefaults: FoundationSettings(synchronizes: false)
    case .synchronized: FoundationSettings(synchronizes: true)
    }
  }
}

final class SharedSettings: SyncedSettings, @unchecked Sendable, Settings {
  @Setting var count = 0
  @Setting var name = ""
  @Setting var ratio = 0.0
  @Setting var tags: [String] = []

  func apply(_ changes: [Steps.Change], as work: Work) throws {
    switch work {
    case .transactions:
      try transaction { for change in changes { try write(change.value, for: change.key) } }
    case .typed:
      for change in changes { assign(change) }
      try demand(errors.isEmpty, "\(errors)")
    default: for change in changes { try write(change.value, for: change.key) }
    }
  }

  private func assign(_ change: Steps.Change) {
    switch (change.key, change.value) {
    case (_, .integer(let number)?): count = Int(number)
    case (_, .string(let text)?): name = text
    case (_, .real(let number)?): ratio = number
    case (_, .array(let elements)?): tags = elements.compactMap(\.string)
    default: break
    }
  }

  func contents(of keys: [String]) throws -> Contents {
    var contents = Contents()
    // Not by `read`, which gives the defaults of properties too.
    for key in keys {
      let entry = try device.entry(store: StoreName.cloud, key: key)
      contents[key] = entry?.content.ifValue?.value.map { "\($0)" }
    }
    return contents
  }
}

struct FoundationSettings: Settings {
  private let defaults = UserDefaults(suiteName: "process-probe") ?? .standard
  let synchronizes: Bool

  init(synchronizes: Bool) { self.synchronizes = synchronizes }

  func apply(_ changes: [Steps.Change], as work: Work) throws {
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

  func contents(of keys: [String]) throws -> Contents {
    var contents = Contents()
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

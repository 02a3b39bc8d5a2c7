// SPDX-License-Identifier: Apache-2.0

import Keepsake
import TestSupport
import Testing

/// The ways to set.
private enum Form: CaseIterable {
  case property, subscripted, foundation, write, writeKey

  var isThrowing: Bool { self == .write || self == .writeKey }
}

private protocol TextSettings: SettingsStore {
  var text: String { get set }
  var setting: Setting<String> { get }
}

@Suite struct ValueLimitTests {
  private final class Local: UserDefaultsStore, TextSettings, @unchecked Sendable {
    @Setting var text = "default"
    var setting: Setting<String> { $text }
  }

  private final class Shared: CloudKeyValueStore, TextSettings, @unchecked Sendable {
    @Setting var text = "default"
    var setting: Setting<String> { $text }
  }

  private func set(_ text: String, _ form: Form, in store: any TextSettings) throws {
    switch form {
    case .property: store.text = text
    case .subscripted: store["text"] = .string(text)
    case .foundation: store.set(text, forKey: "text")
    case .write: try store.setting.write(text)
    case .writeKey: try store.write(.string(text), for: "text")
    }
  }

  /// A store that syncs has 1 MiB for a value, any other 16 MiB.
  @Test(arguments: [false, true], Form.allCases)
  private func aValueAtTheLimitIsSetAndOneByteMoreIsRefused(isShared: Bool, form: Form) throws {
    let device = try Device.inMemory()
    let store: any TextSettings =
      isShared ? try Shared(on: device) : try Local(on: device, arguments: .none)
    let limit = isShared ? 1 << 20 : 1 << 24
    let largest = String(repeating: "x", count: limit)
    try set(largest, form, in: store)
    #expect(store.text == largest && store.errors.isEmpty)
    var failure: (any Error)?
    do { try set(largest + "x", form, in: store) } catch { failure = error }
    #expect((failure != nil) == form.isThrowing)
    let error = try #require(
      (failure as? KeepsakeError) ?? (failure as? SettingFailure)?.cause as? KeepsakeError
        ?? store.errors.first?.cause as? KeepsakeError)
    #expect(error.code == .invalidValue)
    let name = isShared ? "cloud" : "defaults"
    #expect(
      error.problem
        == "the value of \(name)/text has \(limit + 1) bytes, more than the limit of \(limit)")
    #expect(store.text == largest)
    store.text = "small"
    #expect(store.text == "small")
  }
}

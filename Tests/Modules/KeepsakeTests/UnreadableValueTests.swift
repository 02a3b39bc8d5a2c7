// SPDX-License-Identifier: Apache-2.0
//
// A value that a given layer has and cannot give is no reason to refuse the others.

import Keepsake
import KeepsakeTesting
import TestSupport
import Testing

private struct Limits: Codable, Equatable, Sendable { var low = 1, high = 2 }

private final class Store: UserDefaultsStore, @unchecked Sendable {
  @Setting var name = "guest"
  @Setting(fields: "p.") var limits = Limits()
}

@Suite struct UnreadableValueTests {
  private static let places: [SettingsLayer.Place] = [.managed, .defaults]

  private func store(_ layer: SettingsLayer) throws -> Store {
    try Store(on: .inMemory(), layers: [layer], arguments: .none)
  }

  @Test(arguments: places)
  func itIsLeftOutOfAllAndReportedOnce(place: SettingsLayer.Place) throws {
    let layer = SettingsLayer.given(place, ["name": [], "p.low": [7]])
    let store = try store(layer)
    for _ in 0..<3 { #expect(store.dictionaryRepresentation() == ["p.low": 7, "p.high": 2]) }
    #expect(store.failures.map(\.key) == ["name"] && store.failures.map(\.operation) == [.read])
    layer.give(["name": ["ada"]])
    #expect(store.dictionaryRepresentation()["name"] == "ada")
    layer.give(["name": []])
    #expect(store.dictionaryRepresentation()["name"] == nil)
  }

  @Test(arguments: places)
  func aMemberAloneHasItsDefault(place: SettingsLayer.Place) throws {
    let store = try store(.given(place, ["p.low": [], "p.high": [9]]))
    for _ in 0..<3 { #expect(store.limits == Limits(low: 1, high: 9)) }
    #expect(store.failures.map(\.key) == ["p.low"] && store.failures.map(\.operation) == [.read])
    let error = #expect(throws: SettingFailure.self) { try store.$limits.read() }
    #expect(error?.key == "p.low" && (error?.cause as? KeepsakeError)?.code == .invalidValue)
    #expect(throws: SettingFailure.self) { try store.$limits.update { $0.high = 3 } }
    let problems = try store.$limits.explain().members.map(\.problem)
    #expect(problems == ["it is broken", nil] || problems == [nil, "it is broken"])
  }

  @Test func aMemberWhoseDefaultCannotBeGivenIsWritten() throws {
    let store = try store(.given(.defaults, ["p.low": []]))
    store.limits = Limits(low: 1, high: 3)
    #expect(try store.device.values(store: "defaults").keys.map(\.string) == ["p.high"])
    try store.$limits.write(Limits(low: 2, high: 3))
    #expect(try store.$limits.read() == Limits(low: 2, high: 3))
  }

  @Test func othersHearOfAReloadThatBringsOne() throws {
    let layer = SettingsLayer.given(.managed, ["name": ["ada"]])
    let store = try store(layer)
    let heard = ChangeRecorder(store)
    layer.give(["name": [], "p.low": [7]])
    #expect(heard.all.map(\.key) == ["name", "p.low"] && heard.all.map(\.new) == [nil, 7])
  }
}

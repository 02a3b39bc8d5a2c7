// SPDX-License-Identifier: Apache-2.0
//
// Layers that were given to a store: types, secrets, reloads. `LayersTests` has their order.

import Foundation
import Keepsake
import KeepsakeTesting
import Observation
import Synchronization
import TestSupport
import Testing

private enum Mode: String { case fast, slow }

private final class Given: UserDefaultsStore, Observable, @unchecked Sendable {
  @Setting var volume = 5
  @Setting var ratio = 0.5
  @Setting var isLoud = false
  @Setting var name = "guest"
  @Setting var nickname: String?
  @Setting var tags: [String] = []
  @Setting var sizes: [Int] = []
  @Setting var bytes = Data()
  @Setting var since = Date(timeIntervalSinceReferenceDate: 0)
  @Setting(by: .rawValue) var mode = Mode.fast
}

@Suite struct GivenLayerTests {
  private static let places: [SettingsLayer.Place] = [.managed, .defaults]

  private func store(
    _ layer: SettingsLayer, log: RecordedLog = RecordedLog()
  ) throws -> (Given, Device) {
    let device = try Device.inMemory()
    let store = try Given(on: device, layers: [layer], arguments: .none, logger: log.logger)
    return (store, device)
  }

  @Test(arguments: places)
  func aSettingTakesTheReadingOfItsType(place: SettingsLayer.Place) throws {
    let (store, _) = try store(
      .given(
        place,
        [
          "volume": ["7", 7, 7.0], "ratio": [2, 2.0, true], "isLoud": [1, 1.0, true],
          "name": ["7", 7], "nickname": ["ada"], "tags": ["a,b", ["a", "b"]],
          "sizes": ["1,2", ["1", "2"], [1, 2]], "bytes": ["YQ==", .data(Data([97]))],
          "since": ["2001-01-01T00:00:07Z"], "mode": ["slow"],
        ]))
    for _ in 0..<2 {
      #expect(store.volume == 7 && store.ratio == 2 && store.isLoud && store.name == "7")
      #expect(store.nickname == "ada" && store.tags == ["a", "b"] && store.sizes == [1, 2])
      #expect(store.bytes == Data([97]) && store.mode == .slow)
      #expect(store.since.timeIntervalSinceReferenceDate == 7)
    }
    #expect(store["volume"] == "7" && store.integer(forKey: "volume") == 7)
    #expect(store.bool(forKey: "isLoud") && store.dictionaryRepresentation()["sizes"] == "1,2")
    #expect(try store.$volume.read() == 7 && store.$volume.explain().problem == nil)
    #expect(try store.$volume.isDefault == (place == .defaults))
    #expect(try store.setting(SettingKey("volume", default: 1)).wrappedValue == 7)
    #expect(store.failures.isEmpty)
  }

  @Test func whatWasSetIsNotReadAsAnotherType() throws {
    // The same text, but of a layer that knows its types.
    let (store, _) = try store(.given(.defaults, ["volume": ["7", 7]]))
    store["volume"] = "7"
    #expect(store.volume == 5)
    #expect(store.failures.map(\.storedType) == [.string] && store.failures.first?.provider == nil)
    store["volume"] = nil
    #expect(store.volume == 7)
    store.volume += 1
    #expect(store.volume == 8 && store["volume"] == 8)
  }

  @Test(arguments: places)
  func aWrongTypeIsReportedOnceAndNeverQuiet(place: SettingsLayer.Place) throws {
    let (store, _) = try store(.given(place, ["volume": ["loud"], "mode": ["odd"]]))
    for _ in 0..<3 { #expect(store.volume == 5 && store[SettingKey("volume", default: 5)] == 5) }
    #expect(
      store.failures.map(\.description) == [
        "defaults/volume: the setting could not be read from \"VOLUME\" of Given: the stored value"
          + " is of type string, not integer; read it with its own type, or set it again"
      ])
    let error = #expect(throws: SettingFailure.self) { try store.$mode.read() }
    #expect(error?.provider?.name == "Given" && error?.provider?.key == "MODE")
    #expect(error?.provider?.isManaged == (place == .managed))
    #expect(try store.$volume.explain().problem != nil)
  }

  @Test(arguments: places)
  func whatCannotBeGivenHidesWhatIsBelow(place: SettingsLayer.Place) throws {
    let layer = SettingsLayer.given(place, ["volume": []])
    let (store, _) = try store(layer)
    store.register(defaults: ["volume": 3])
    for _ in 0..<3 { #expect(store.volume == 5) }
    #expect(store.failures.count == 1)
    let text =
      "(memory): \"VOLUME\" of Given cannot be read: it is broken; change the value there"
    let error = #expect(throws: KeepsakeError.self) { try store.$volume.read() }
    #expect(error?.description == text && error?.code == .invalidValue)
    #expect(throws: KeepsakeError.self) { try store.read("volume") }
    let all = store.dictionaryRepresentation()
    #expect(all["volume"] == nil && all["name"] == "guest" && store.failures.count == 1)
    let explanation = try store.$volume.explain()
    #expect(explanation.problem == "it is broken")
    #expect(
      "\(explanation)".contains(
        "* \(place == .managed ? "managed" : "given default"): cannot be read: it is broken, "
          + "\"VOLUME\" of Given\n  registered: 3\n"))
    layer.give(["volume": [4]])
    #expect(store.volume == 4)
  }

  @Test func everyLayerExplainsWhereItsValuesComeFrom() throws {
    let device = try Device.inMemory(clock: ManualClock(milliseconds: 1_763_632_800_000).wallClock)
    let store = try Given(
      on: device,
      layers: [.given(.defaults, ["volume": [2]]), .given(.managed, ["volume": ["9", 9]])],
      arguments: LaunchArguments(["program", "-volume", "8"]))
    try device.write([LocalWrite(store: "defaults", key: "volume", value: 7)])
    store.register(defaults: ["volume": 1])
    #expect(
      try "\(store.$volume.explain())" == """
        "volume" in "defaults": "9"
        * managed: "9", "VOLUME" of Given
          argument 1: "8"
          set: 7, 2025-11-20T10:00:00.000Z by this device
          given default: 2, "VOLUME" of Given
          registered: 1
          default of the property: 5
        """)
    #expect(try store.explain("volume").inForce?.value == "9")
  }

  @Test func aGivenDefaultThatIsNotChangedIsNotStored() throws {
    let (store, device) = try store(
      .given(.defaults, ["volume": ["7", 7], "name": ["s3cret"]], secrets: ["name"]))
    try store.update("name") { _ in }
    try store.$name.update { _ in }
    try store.$volume.update { _ in }
    #expect(try device.values(store: "defaults").isEmpty)
    try store.$volume.update { $0 += 1 }
    try store.update("name") { $0 = "ada" }
    let set = try device.values(store: "defaults").keys.map(\.string).sorted()
    #expect(set == ["name", "volume"] && store.volume == 8 && store.name == "ada")
  }

  // MARK: - Secrets

  @Test(arguments: places)
  func aSecretIsReadAndNeverShown(place: SettingsLayer.Place) throws {
    let log = RecordedLog()
    let layer = SettingsLayer.given(
      place, ["name": ["s3cret"], "volume": ["s3cret"], "mode": ["s3cret"]],
      secrets: ["name", "volume", "mode"])
    let (store, _) = try store(layer, log: log)
    #expect(store.name == "s3cret" && store["name"] == "s3cret")
    #expect(store.volume == 5 && store.mode == .fast)
    store.name = "other"
    store.volume += 1
    let errors = [
      #expect(throws: SettingFailure.self) { try store.$volume.read() },
      #expect(throws: SettingFailure.self) { try store.$mode.read() },
    ]
    let explanations = [try store.$name.explain(), try store.$volume.explain()]
    let texts =
      ["\(errors)", "\(explanations)", "\(store.failures)", String(reflecting: explanations)]
      + log.lines.map(\.text)
    for text in texts { #expect(!text.contains("s3cret"), "\(text)") }
    #expect(log.lines.count >= 2)
    let name = try store.explain("name")
    if place == .managed {
      #expect("\(name)".hasPrefix("\"name\" in \"defaults\": not shown\n* managed: a secret, "))
      #expect(name.inForce?.value == nil && name.inForce?.source != nil && explanations[0] == name)
    }
    #expect(explanations[1].problem?.contains("is a secret") == true)
  }

  @Test func anotherSecretThatCannotBeReadIsReportedAnew() throws {
    let layer = SettingsLayer.given(.managed, ["volume": ["a"]], secrets: ["volume"])
    let (store, _) = try store(layer)
    for _ in 0..<2 { #expect(store.volume == 5) }
    #expect(store.failures.count == 1)
    layer.give(["volume": ["b"]])
    for _ in 0..<2 { #expect(store.volume == 5) }
    #expect(store.failures.count == 2)
  }

  // MARK: - Reloads

  @Test func everyObserverHearsOfAReload() async throws {
    let layer = SettingsLayer.given(.managed)
    let (store, device) = try store(layer)
    let center = NotificationCenter()
    let posted = Mutex<[[String]]>([])
    store.postNotifications(to: center)
    let listening = center.addObserver(
      forName: UserDefaultsStore.didChangeNotification, object: nil, queue: nil
    ) { note in
      let keys = note.userInfo?[UserDefaultsStore.changedKeysKey] as? [String]
      posted.withLock { $0.append(keys ?? []) }
    }
    let heard = Mutex<[Int]>([])
    let token = try store.$volume.observe { value in heard.withLock { $0.append(value) } }
    let tracked = Atomic(0)
    withObservationTracking {
      _ = store.volume
    } onChange: {
      tracked.add(1, ordering: .relaxed)
    }
    var values = store.$volume.values.makeAsyncIterator()
    #expect(await values.next() == 5)
    layer.give(["volume": ["7", 7]])
    #expect(await values.next() == 7)
    layer.give(["volume": ["7", 7], "name": ["guest"]])
    // A value that a property had as its default is one that is set now.
    #expect(posted.withLock { $0 } == [["volume"], ["name"]])
    #expect(heard.withLock { $0 } == [7] && tracked.load(ordering: .relaxed) == 1)
    #expect(try device.values(store: "defaults").isEmpty && store.failures.isEmpty)
    token.cancel()
    center.removeObserver(listening)
  }

  @Test func aKeyThatIsDeclaredNowhereIsHeardOnceItIsObserved() throws {
    let layer = SettingsLayer.given(.defaults)
    let (store, _) = try store(layer)
    let all = ChangeRecorder(store)
    layer.give(["a": [1], "b": [1]])
    #expect(all.all.isEmpty)
    let token = store.observe(["b"]) { _ in }
    #expect(store["a"] == 1)
    layer.give(["a": [2], "b": [2]])
    #expect(all.all.map(\.key) == ["b"] && all.all.map(\.old) == [1])
    #expect(store["a"] == 2)
    token.cancel()
  }

  @Test func reloadsOfSeveralThreadsEndWithTheLastValue() throws {
    let layer = SettingsLayer.given(.managed, ["volume": [0]])
    let (store, _) = try store(layer)
    let last = Mutex<StoredValue?>(nil)
    let token = store.observe("volume") { changes in last.withLock { $0 = changes.last?.new } }
    DispatchQueue.concurrentPerform(iterations: 200) { number in
      layer.give(["volume": [.integer(Int64(number + 1))]])
      _ = store.volume
    }
    #expect(last.withLock { $0 } == store["volume"] && store.volume > 0)
    token.cancel()
  }

  @Test func aLayerThatIsNotFollowedAnyMoreIsReported() throws {
    struct Ended: Error {}
    let layer = SettingsLayer.given(.managed)
    let (store, _) = try store(layer)
    layer.report(Ended())
    #expect(store.failures.map(\.operation) == [.reload] && store.failures.first?.cause is Ended)
  }

  @Test func aStoreThatHasGoneIsNotKeptByItsLayer() throws {
    let layer = SettingsLayer.given(.managed)
    var pair: (Given, Device)? = try store(layer)
    weak let store = pair?.0
    pair = nil
    #expect(store == nil)
    layer.give(["volume": [1]])
  }

  @Test func aLayerOfSomeKeysHasNoOthers() throws {
    let layer = SettingsLayer(
      .managed, keys: ["volume"], GivenValues(readings: ["volume": [1], "name": ["ada"]]))
    let (store, _) = try store(layer)
    #expect(store.volume == 1 && store.name == "guest" && !store.isManaged("name"))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Keepsake
import Observation
import TestSupport
import Testing

private final class Tracked: UserDefaultsStore, Observable, @unchecked Sendable {
  @Setting var name = "guest"
  @Setting var size = 1
}

private final class Untracked: UserDefaultsStore, @unchecked Sendable {
  @Setting var name = "guest"
}

/// The macro's expansion names Swift's module `Observation`, which a type of ours must not hide.
@Observable private final class Model {
  var title = "a"
}

@Suite struct TrackingTests {
  private let device: Device
  private let store: Tracked

  init() throws {
    device = try Device.temporary()
    store = try Tracked(on: device)
  }

  /// How often a change was told of what `read` has read.
  private func track(_ read: () -> Void) -> () -> Int {
    let count = Collected<Int>()
    withObservationTracking(read) { count.append([1]) }
    return { count.sets.count }
  }

  @Test func aSettingThatWasReadNotifiesOfItsNextChangeOnce() throws {
    for round in 1...3 {
      let told = track { _ = store.name }
      store.size += 1
      #expect(told() == 0)
      store.name = "\(round)"
      #expect(told() == 1)
      store.name = "\(round) again"
      #expect(told() == 1)
    }
  }

  @Test func whatIsKnownAlreadyIsTrackedToo() throws {
    func read() -> [String?] { [store.name, store.string(forKey: "name")] }
    #expect(read() == ["guest", "guest"])
    let tolds = [track { _ = store.name }, track { _ = store.string(forKey: "name") }]
    store.name = "ada"
    #expect(tolds.map { $0() } == [1, 1])
  }

  @Test func aReaderOfAllKeysIsNotifiedOfEach() throws {
    let told = track { _ = store.dictionaryRepresentation() }
    store["any"] = 1
    #expect(told() == 1)
  }

  /// What is kept of them has an end: those beyond it are told of any change.
  @Test func everNewKeysAreTrackedToo() throws {
    for number in 0..<10_100 { _ = store.string(forKey: "key \(number)") }
    let told = track { _ = store.string(forKey: "key 10099") }
    store["key 1"] = "new"
    #expect(told() == 1)
  }

  @Test func anEqualValueAndAFailedTransactionTellNothing() throws {
    let told = track { _ = store.name }
    store.name = "guest"
    #expect(told() == 1, "the first write of the default is one: it is in the store now")
    let again = track { _ = store.name }
    store.name = "guest"
    #expect(throws: CancellationError.self) {
      try store.transaction {
        store.name = "ada"
        throw CancellationError()
      }
    }
    #expect(again() == 0)
  }

  @Test func allReadersOfAKeyAreNotifiedOfItsChange() throws {
    let (one, two) = (try Tracked(on: device), try Tracked(on: device))
    let setting = try one.setting(SettingKey("name", default: ""))
    let tolds = [
      track { _ = one.name }, track { _ = two.name }, track { _ = setting.wrappedValue },
      track { _ = one[SettingKey("name", default: "")] }, track { _ = one["name"] },
      track { _ = one.string(forKey: "name") }, track { _ = try? one.read("name") },
      track { _ = try? one.$name.read() },
    ]
    let other = track { _ = one["nickname"] }
    one.name = "ada"
    #expect(tolds.map { $0() } == Array(repeating: 1, count: 8) && other() == 0)
    one["nickname"] = "countess"
    #expect(other() == 1)
  }

  @available(macOS 26, iOS 26, *)
  @Test func observationsYieldWhatThisAndOtherProcessesWrite() async throws {
    var heard: [String] = []
    for await name in Observations({ store.name }) {
      heard.append(name)
      if name == "guest" { store.name = "ada" }
      if name == "ada" {
        try kvsync("set", device.path, "name", "bob", "--store", "defaults")
      }
      if name == "bob" { break }
    }
    #expect(heard == ["guest", "ada", "bob"])
  }

  @available(macOS 26, iOS 26, *)
  @Test func observationsYieldATransactionOnce() async throws {
    var heard: [String] = []
    for await text in Observations({ "\(store.name) \(store.size)" }) {
      heard.append(text)
      guard text == "guest 1" else { break }
      try store.transaction {
        store.name = "ada"
        store.size = 2
      }
    }
    #expect(heard == ["guest 1", "ada 2"])
  }

  /// What SwiftUI's `Bindable` does, whose bindings keep a key path.
  @Test func aKeyPathReadsWritesAndIsTracked() throws {
    let path: any ReferenceWritableKeyPath<Tracked, String> & Sendable = \.name
    let told = track { _ = store[keyPath: path] }
    store[keyPath: path] = "ada"
    #expect(told() == 1 && store.name == "ada" && store["name"] == "ada")
  }

  @Test func aClassThatIsNotObservablePaysNothing() throws {
    let device = try Device.temporary()
    let store = try Untracked(on: device)
    let told = track { _ = store.name }
    store.name = "ada"
    #expect(told() == 0 && !device.hasObservers)
  }

  @Test func aStoreThatHasGoneLeavesNoObserver() throws {
    let device = try Device.temporary()
    weak var gone: Tracked?
    do {
      let store = try Tracked(on: device)
      #expect(device.hasObservers)
      gone = store
    }
    #expect(gone == nil && !device.hasObservers)
  }

  @Test func swiftsMacroFindsItsModule() {
    let model = Model()
    let told = track { _ = model.title }
    model.title = "b"
    #expect(told() == 1)
  }
}

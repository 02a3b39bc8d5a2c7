// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

@MainActor @Suite struct MainActorObservationTests {
  final class Local: DeviceSettings, @unchecked Sendable {
    @Setting var size = 1
    @Setting var name = "guest"
    @Setting(fields: "window.") var window = Window()
  }

  nonisolated struct Window: Codable { var width = 1, height = 1 }

  /// On the main actor, as a view is.
  final class View {
    var sizes: [StoredValue?] = []
    var names: [String] = []
  }

  private let store: Local
  private let view = View()

  init() throws { store = try Local(on: .inMemory(), arguments: .none) }

  @Test func aStoresObserverRunsOnTheMainActorInTheOrderOfTheCommits() async throws {
    let (done, finish) = AsyncStream<Void>.makeStream()
    let token = store.observe("size", on: MainActor.self) { [view] changes in
      MainActor.assertIsolated()
      view.sizes += changes.map(\.new)
      if view.sizes.last == 500 { finish.finish() }
    }
    store.name = "ada"
    let store = store
    let writer = Task.detached { for size in 2...500 { store.size = size } }
    for await _ in done {}
    await writer.value
    #expect(view.sizes == (2...500).map { .integer($0) })
    withExtendedLifetime(token) {}
  }

  @Test func anObserverThatIsCancelledIsGoneAtOnce() {
    let token = store.observe(on: MainActor.self) { _ in }
    #expect(store.device.hasObservers)
    token.cancel()
    #expect(!store.device.hasObservers)
  }

  @Test func anObserverOfAStructureHearsOfItsMembers() async throws {
    let (done, finish) = AsyncStream<Void>.makeStream()
    let token = try store.$window.observe(on: MainActor.self) { window in
      if window.width == 2 { finish.finish() }
    }
    store.window.width = 2
    for await _ in done {}
    withExtendedLifetime(token) {}
  }

  @Test func aSettingsObserverGetsValues() async throws {
    let (done, finish) = AsyncStream<Void>.makeStream()
    let token = try store.$name.observe(on: MainActor.self) { [view] name in
      view.names.append(name)
      if name == "bob" { finish.finish() }
    }
    store.name = "ada"
    store.size = 2
    store.name = "bob"
    #expect(view.names == [], "the main actor is ours until we suspend")
    for await _ in done {}
    #expect(view.names.last == "bob")
    withExtendedLifetime(token) {}
  }

  @Test func afterACancelOnTheMainActorNothingIsDelivered() async throws {
    let (done, finish) = AsyncStream<Void>.makeStream()
    let token = store.observe(on: MainActor.self) { [view] in view.sizes += $0.map(\.new) }
    store.size = 2
    token.cancel()
    // Comes after whatever was on its way.
    let last = store.observe("name", on: MainActor.self) { _ in finish.finish() }
    store.name = "ada"
    for await _ in done {}
    #expect(view.sizes == [])
    withExtendedLifetime(last) {}
  }
}

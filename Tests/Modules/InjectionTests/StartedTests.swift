// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

extension Container.Key where Value == Node {
  fileprivate static var node: Self { Self("node") }
  fileprivate static var missing: Self { Self("missing") }
  fileprivate static var passing: Self { Self("passing") }
}

extension Container.Key where Value == any API {
  fileprivate static var api: Self { Self() }
}

extension Container.Key where Value == String? {
  fileprivate static var user: Self { Self("user") }
}

@Suite(.timeLimit(hang)) struct StartedTests {
  @Test func everySingletonIsAPropertyByTheNameOfItsKey() async throws {
    let container = Container()
    container.register(.node) { _ in Node() }
    container.register { _ async in RealAPI() }.as(.api) { $0 }
    let app = try await container.start()
    app.node.peer.withLock { $0 = Node() }
    #expect(try container.get(.node).peer.withLock { $0 } != nil)
    #expect(app.api.host == "real")
  }

  @Test func whatIsSetIsReadAndWhatMayBeAbsentIsNil() async throws {
    let container = Container { $0.register(.passing, scope: .transient) { _ in Node() } }
    let app: Container.Started = try await container.start()
    #expect(app.user == nil)
    try container.set("Ada", for: Container.Key<String>("user"))
    #expect(app.user == "Ada")
    let node = Node()
    try container.set(node, for: .passing)
    #expect(app.passing === node)
  }

  @Test func aChildReadsItsOwnAndItsParents() async throws {
    let parent = Container { $0.register(.node) { _ in Node() } }
    let child = parent.child { c in c.register(.api) { _ in MockAPI() } }
    let app = try await child.start()
    #expect(try app.node === parent.get(.node) && app.api.host == "mock")
  }

  @Test func aKeyThatWasNeverRegisteredTrapsWithTheText() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let container = Container { $0.register(.node) { _ in Node() } }
      let app = try await container.start()
      _ = app.missing
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains(
        "Node \"missing\": nothing is registered or set for it. Candidates: Node \"node\". "
          + "Register it, or add `.as` with this key to the registration of its type."))
  }

  /// Also where its recipe would have succeeded, so that nothing depends on the moment.
  @Test func anObjectThatIsNotKeptTrapsWithTheText() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let container = Container { $0.register(.passing, scope: .transient) { _ in Node() } }
      let app = try await container.start()
      _ = app.passing
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains(
        "Node \"passing\": the container does not keep it, and its recipe may fail. "
          + "Look it up by `try container.get()`, or register it as a singleton."))
  }
}

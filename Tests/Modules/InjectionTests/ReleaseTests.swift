// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

extension Container.Key where Value == String {
  fileprivate static var released: Self { Self("released") }
}

/// Every way to use a container that the article shows lets go of it.
@Suite(.timeLimit(hang)) struct ReleaseTests {
  struct Pattern: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let use: @Sendable (Container) async throws -> Void

    init(_ description: String, _ use: @escaping @Sendable (Container) async throws -> Void) {
      (testDescription, self.use) = (description, use)
    }
  }

  /// Reaches its container whenever it is asked.
  private final class Menu: Sendable {
    let api: @Sendable () throws -> RealAPI?
    init(api: @escaping @Sendable () throws -> RealAPI?) { self.api = api }
  }

  // Sendable: used by one thread.
  private final class Form: Injectable, @unchecked Sendable {
    @Injected var api: RealAPI
    @Injected var name: String?
    func didInject() {}
  }

  /// Its form is not injected, but has properties of the container whose recipe made it.
  private final class Holder: Sendable {
    let form = Form()
  }

  private static let patterns = [
    Pattern("a recipe uses its argument") { c in
      c.register { c in Shop(api: try c.get(Container.Key<RealAPI>())) }
      _ = try c.get(Container.Key<Shop>())
    },
    Pattern("an initialiser and an alias") { c in
      c.register(using: { (api: RealAPI) in Shop(api: api) })
        .as(Container.Key<any Sendable>("shop")) { $0 }
      _ = try c.get(Container.Key<any Sendable>("shop"))
    },
    Pattern("transient, weak and made with arguments") { c in
      c.register(scope: .transient) { _ in 5 }
      c.register(scope: .weak, using: { (number: Int) in Shop(api: RealAPI(host: "\(number)")) })
      _ = try c.get(Container.Key<Shop>())
      _ = try c.make(Container.Key<Shop>(), with: 7)
    },
    Pattern("a cycle of properties") { c in
      c.register(make: { _ in Node() }) { node, c in
        let other: Other = try c.get()
        node.peer.withLock { $0 = other.node.withLock { $0 } }
      }
      c.register { c in Other(try c.get(Container.Key<Node>())) }
      let node: Node = try c.get()
      node.peer.withLock { $0 = nil }
    },
    Pattern("asynchronous and main-actor recipes") { c in
      c.register { _ async in 5 }
      c.register { @MainActor _ in ViewModel(host: "main") }
      try await c.start()
      try await c.ready()
      _ = try await c.resolve(Container.Key<Int>())
    },
    Pattern("an object is set and removed") { c in
      try c.set("Ada", for: Container.Key("user"))
      try c.set(Menu { [weak c] in try c?.get() })
      try c.set(nil, for: Container.Key<String>("user"))
    },
    Pattern("an injected object") { c in
      c.register { _ in Form() }
      _ = try c.get(Container.Key<Form>()).name
    },
    Pattern("properties that are read later") { c in
      c.register { _ in Holder() }
      let holder: Holder = try c.get()
      _ = (holder.form.api, holder.form.name)
    },
    Pattern("a closure that looks up later") { c in
      c.register { c in Menu { [weak c] in try c?.get() } }
      _ = try c.get(Container.Key<Menu>()).api()
    },
    Pattern("children, and a container that is current") { c in
      let child = c.child()
      child.register { c in [try c.get(Container.Key<RealAPI>())] }
      _ = try child.get(Container.Key<[RealAPI]>())
      _ = c.child(fresh: true).asCurrent { inject(Container.Key<RealAPI>()) }
      _ = try await child.asCurrent { try await Container.current.start() }
    },
    Pattern("what start returns") { c in
      c.register(.released) { _ in "property" }
      let app = try await c.start()
      #expect(app.released == "property")
    },
  ]

  @Test(arguments: patterns)
  func aContainerIsReleased(pattern: Pattern) async throws {
    weak var gone: Container?
    weak var object: RealAPI?
    do {
      let container = Container { c in c.register { _ in RealAPI() } }
      (gone, object) = (container, try container.get(Container.Key<RealAPI>()))
      try await pattern.use(container)
    }
    #expect(gone == nil)
    #expect(object == nil)
  }

  @Test func aFreshChildDoesNotKeepTheOriginal() throws {
    weak var gone: Container?
    let fresh: Container
    do {
      let container = Container { c in c.register { _ in RealAPI() } }
      gone = container
      fresh = container.child(fresh: true)
    }
    #expect(gone == nil)
    #expect(try fresh.get(Container.Key<RealAPI>()).host == "real")
  }
}

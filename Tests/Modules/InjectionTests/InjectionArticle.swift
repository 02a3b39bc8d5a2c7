// SPDX-License-Identifier: Apache-2.0
//
// The snippets of the module's article, to the letter; a project test compares them.

import KeepsakeInjection
import Synchronization
import Testing

@Suite(.timeLimit(hang)) struct InjectionArticle {
  @Test func theSnippetsPrintWhatTheyFind() async throws {
    try modules()
    try severalOfAKind()
    try howLongObjectsLive()
    try await starting()
    try await singletonsAsProperties()
    try testsAndContexts()
    try cycles()
    try containersAreReleased()
    #expect(
      printed.withLock { $0 } == [
        "example.org", #"true ["main", "backup"]"#, "Ada x", "Database", "main backup", "mock",
        "example.org Ada", "true", "example.org true",
      ])
  }

  protocol API: Sendable { var host: String { get } }
  final class RealAPI: API {
    let host: String
    init(host: String) { self.host = host }
  }
  final class Shop: Sendable {
    let api: any API
    init(api: any API) { self.api = api }
  }

  final class Mock: API { let host = "mock" }
  final class Cache: Sendable {}
  final class Database: Sendable { static func open() async -> Database { Database() } }
  @MainActor final class ViewModel {}
  final class Other: Sendable {}
  // Sendable: it is written before it is shared.
  final class Node: @unchecked Sendable { var other: Other? }

  func network(_ c: Container) {
    c.register { _ in RealAPI(host: "example.org") }.as(Container.Key<any API>()) { $0 }
  }
  func shops(_ c: Container) {
    c.register(using: Shop.init)
  }

  func modules() throws {
    let container = Container(network, shops)
    let shop: Shop = try container.get()
    print(shop.api.host)
  }

  func howLongObjectsLive() throws {
    let container = Container(network, shops)
    container.register(scope: .transient) { _ in 5 }  // a new one for each lookup
    container.register(scope: .weak, using: Cache.init)  // shared while other objects keep it
    try container.set("Ada", for: Container.Key("user"))  // made elsewhere; nil removes it
    let user = try container.find(Container.Key<String>("user"))  // nil while it is not set
    let once = try container.make(Container.Key<Shop>(), with: RealAPI(host: "x") as any API)
    print(user ?? "nobody", once.api.host)
  }

  func starting() async throws {
    let container = Container()
    container.register { _ in await Database.open() }
    container.register { @MainActor _ in ViewModel() }
    Task.detached { try await container.start() }
    try await container.ready()
    let database: Database = try container.get()
    print(type(of: database))
  }

  func testsAndContexts() throws {
    let container = Container(network, shops)
    try container.validate()
    let test = try container.child(fresh: true) {
      try $0.set(Mock(), for: Container.Key<any API>())
    }
    let shop = try test.asCurrent { try Container.current.get(Container.Key<Shop>()) }  // a new one
    let session = container.child { $0.register(Container.Key("user")) { _ in "Ada" } }
    print(shop.api.host)

    let (first, second) = (Screen(), Screen())
    try Container.handOff(from: first, to: second, prefix: "segue")
    try session.inject(into: second)
  }

  final class Screen: Injectable {
    @Injected var api: any API
    @Injected var segueUser: String?
    func didInject() { print(api.host, segueUser ?? "nobody") }
  }

  func cycles() throws {
    let container = Container { $0.register(using: Other.init) }
    container.register(make: { _ in Node() }) { node, c in node.other = try c.get() }
    print(try container.get(Container.Key<Node>()).other != nil)
  }

  final class Menu: Sendable {
    let shop: @Sendable () throws -> Shop?
    init(shop: @escaping @Sendable () throws -> Shop?) { self.shop = shop }
  }

  func containersAreReleased() throws {
    weak var gone: Container?
    let menu: Menu
    do {
      let container = Container(network, shops)
      container.register { c in Menu { [weak c] in try c?.get(Container.Key<Shop>()) } }
      gone = container
      menu = try container.get()
      print(try menu.shop()?.api.host ?? "gone", try menu.shop() != nil)
    }
    #expect(gone == nil)
    #expect(try menu.shop() == nil)
  }
}

private let printed = Mutex<[String]>([])

/// Records the lines in place of Swift's function.
private func print(_ items: Any...) {
  let line = items.map { "\($0)" }.joined(separator: " ")
  printed.withLock { $0.append(line) }
}

// An extension cannot be nested in the suite, so these keys are for the `RealAPI` of all tests.

fileprivate extension Container.Key where Value == RealAPI {
  static var main: Self { Self("main") }
  static var backup: Self { Self("backup") }
}

private func severalOfAKind() throws {
  let container = Container()
  container.register(.main, primary: true) { _ in RealAPI(host: "main") }
  container.register(.backup) { _ in RealAPI(host: "backup") }
  container.register(
    Container.Key("both"), using: { (one: RealAPI, two: RealAPI) in [one.host, two.host] },
    with: Container.Key.main, Container.Key.backup)
  let backup = try container.get(.backup)
  let all: [RealAPI] = try container.all()  // in the order of registration
  print(backup === all[1], try container.get(Container.Key<[String]>()))
}

private func singletonsAsProperties() async throws {
  let container = Container()
  container.register(.main) { _ in RealAPI(host: "main") }
  container.register(.backup) { _ in RealAPI(host: "backup") }
  let app = try await container.start()
  print(app.main.host, app.backup.host)
}

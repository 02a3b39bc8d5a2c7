// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

private typealias Key = Container.Key

private final class AppDelegate: Injectable, Sendable {
  let api: RealAPI = inject()
  let completed = Counter()
  func didInject() { completed.up() }
}

private final class Form: Injectable {
  @Injected var api: RealAPI
  @Injected var title = "constant"
  @Injected var nickname: String?
  var completed = 0
  func didInject() { completed += 1 }
}

/// Injection from outside, starting, contexts, and what its seeds asked for.
extension AlchemicMapTests {
  @Test("AcInject(variable, …)") func acInject() throws {
    container.register { _ in RealAPI() }
    let delegate = container.asCurrent { AppDelegate() }
    #expect(try delegate.api === container.get(Key<RealAPI>()))
  }

  @Test("AcInjectDependencies(self), constants, AcNillable variables")
  func acInjectDependencies() throws {
    container.register { _ in RealAPI() }
    let form = Form()
    try container.inject(into: form)
    #expect(try form.api === container.get(Key<RealAPI>()))
    #expect(form.title == "constant")
    #expect(form.nickname == nil)
  }

  @Test("alchemicDidInjectDependencies") func alchemicDidInjectDependencies() throws {
    container.register { _ in RealAPI() }
    container.register(scope: .transient) { _ in Form() }
    #expect(try container.make(Key<Form>()).completed == 1)
    let log = Log()
    container.register(Key("told"), make: { _ in "plain" }) { text, _ in log.add(text) }
    _ = try container.get(Key<String>("told"))
    #expect(log.lines == ["plain"])
  }

  @Test("self-start on a background thread") func selfStart() async throws {
    let made = Counter()
    container.register { _ in made.up() }
    _ = try await Task.detached { [container] in try await container.start() }.value
    #expect(made.value == 1)
  }

  @Test("AcWhenReady { }, AlchemicDidFinishStarting") func acWhenReady() async throws {
    let made = Counter()
    container.register { _ in made.up() }
    let whenReady = Task { [container] in
      try await container.ready()
      return made.value
    }
    try await container.start()
    #expect(try await whenReady.value == 1)
  }

  @Test("application delegate") func applicationDelegate() throws {
    container.register { _ in RealAPI() }
    let delegate = container.asCurrent { AppDelegate() }
    try container.set(delegate)
    #expect(delegate.completed.value == 1)
    container.register(using: { (delegate: AppDelegate) in delegate.api.host })
    #expect(try container.get(Key<String>()) == "real")
  }

  @Test("AcSet of a view controller") func acSetViewController() throws {
    container.register { _ in RealAPI() }
    var controller: AppDelegate? = container.asCurrent { AppDelegate() }
    try container.set(controller, weak: true)
    #expect(try container.get(Key<AppDelegate>()) === controller)
    controller = nil
    #expect(try container.find(Key<AppDelegate>()) == nil)
  }

  @Test("AlchemicConfig, bundles") func alchemicConfig() throws {
    func network(_ c: Container) { c.register { _ in RealAPI() }.as(Key<any API>()) { $0 } }
    func shops(_ c: Container) { c.register(using: Shop.init) }
    #expect(try Container(shops, network).get(Key<Shop>()).api.host == "real")
  }

  @Test("--alchemic-nostart, mainContext") func nothingStartsByItself() {
    let made = Counter()
    container.register { _ in made.up() }
    #expect(made.value == 0)
    #expect(Container.current === Container.main)
    container.asCurrent { #expect(Container.current === container) }
  }

  @Test("primary mocks in tests") func primaryMocks() throws {
    container.register { _ in RealAPI() }.as(Key<any API>()) { $0 }
    container.register(using: Shop.init)
    #expect(try container.get(Key<Shop>()).api.host == "real")
    let test = try container.child(fresh: true) { try $0.set(MockAPI(), for: Key<any API>()) }
    try test.asCurrent { () throws in
      let shop: Shop = inject()
      #expect(shop.api.host == "mock")
      #expect(try Container.current.get(Key<Shop>()) === shop)
    }
    #expect(try container.get(Key<Shop>()).api.host == "real")
  }

  @Test("storyboard seed: properties with a prefix are copied") func prefixCopy() throws {
    let (from, to) = (Form(), Form())
    (from.nickname, from.title) = ("ada", "not handed over")
    try Container.handOff(from: from, to: to, prefix: "nick")
    #expect(to.nickname == "ada")
    #expect(to.title == "constant")
  }

  @Test("storyboard seed: a shared context dictionary") func sharedContext() throws {
    container.register { _ in RealAPI() }
    try container.set(nil, for: Key<String>())
    let context = try container.child { try $0.set("ada", for: Key<String>()) }
    let destination = Form()
    try context.inject(into: destination)
    #expect(destination.nickname == "ada")
    #expect(try destination.api === container.get(Key<RealAPI>()))
  }

  @Test("the model's description") func modelDescription() throws {
    container.register { _ in RealAPI() }.as(Key<any API>()) { $0 }
    container.register(Key("n"), scope: .transient) { _ in 5 }
    _ = try container.get(Key<any API>())
    #expect(container.description == "RealAPI, API: singleton, made\nInt \"n\": transient")
  }
}

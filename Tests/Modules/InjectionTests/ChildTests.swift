// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

@Suite(.timeLimit(hang)) struct ChildTests {
  private func shopContainer() -> Container {
    Container { container in
      container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
      container.register(using: Shop.init)
    }
  }

  // Alchemic: the shared context dictionary of a storyboard
  @Test func childAddsItsOwnAndSharesTheRest() throws {
    let container = shopContainer()
    let child = container.child { $0.register { _ in "session" } }
    #expect(try child.get(Container.Key<String>()) == "session")
    #expect(try child.get(Container.Key<Shop>()) === container.get(Container.Key<Shop>()))
    #expect(try container.find(Container.Key<String>()) == nil)
  }

  @Test func transientOfTheParentSeesTheChild() throws {
    let container = Container()
    container.register(scope: .transient, using: { (host: String) in RealAPI(host: host) })
    let child = container.child { $0.register { _ in "session" } }
    #expect(try child.get(Container.Key<RealAPI>()).host == "session")
  }

  @Test func nearestContainerWithACandidateDecides() throws {
    let container = shopContainer()
    let child = container.child()
    child.register(Container.Key<any API>("one")) { _ in MockAPI() }
    let grandchild = child.child()
    #expect(try grandchild.get(Container.Key<any API>()).host == "mock")
    #expect(try grandchild.all((any API).self).map(\.host) == ["mock"])
  }

  // primary mocks in tests
  @Test func overrideRemakesWhatDependsOnIt() throws {
    let container = shopContainer()
    let kept: Shop = try container.get()
    let fresh = try container.child(fresh: true) {
      try $0.set(MockAPI(), for: Container.Key<any API>())
    }
    let shop: Shop = try fresh.get()
    #expect(shop.api.host == "mock")
    #expect(try fresh.get(Container.Key<Shop>()) === shop)
    #expect(try container.get(Container.Key<Shop>()) === kept)
    #expect(kept.api.host == "real")
  }

  @Test func freshChildKeepsWhatWasSet() throws {
    let container = shopContainer()
    let api = RealAPI(host: "set")
    try container.set(api)
    try container.set("outside")
    let fresh = container.child(fresh: true)
    #expect(try fresh.get(Container.Key<RealAPI>()) === api)
    #expect(try fresh.get(Container.Key<Shop>()).api.host == "set")
    #expect(try fresh.get(Container.Key<String>()) == "outside")
  }
}

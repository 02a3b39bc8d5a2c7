// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

@Suite(.timeLimit(.minutes(1))) struct ChildTests {
  private func shopContainer() -> Container {
    Container { container in
      container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
      container.register(using: Shop.init)
    }
  }

  // Alchemic: the shared context dictionary of a storyboard
  @Test func childAddsItsOwnAndSharesTheRest() throws {
    let container = shopContainer()
    let child = try container.child { try $0.set("session") }
    #expect(try child.get(Container.Key<String>()) == "session")
    #expect(try child.get(Container.Key<Shop>()) === container.get(Container.Key<Shop>()))
    #expect(try container.find(Container.Key<String>()) == nil)
  }

  @Test func sharedObjectNeverSeesWhatAChildReplaces() throws {
    let container = shopContainer()
    let child = try container.child { try $0.set(MockAPI(), for: Container.Key<any API>()) }
    #expect(try child.get(Container.Key<Shop>()).api.host == "real")
    #expect(try child.get(Container.Key<any API>()).host == "mock")
  }

  @Test func transientOfTheParentSeesTheChild() throws {
    let container = Container()
    container.register(scope: .transient, using: { (host: String) in RealAPI(host: host) })
    let child = try container.child { try $0.set("session") }
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

  @Test func freshChildOfAChildSeesBothAndChangesNeither() throws {
    let container = shopContainer()
    let session = try container.child { try $0.set("session") }
    let fresh = try session.child(fresh: true) {
      try $0.set(MockAPI(), for: Container.Key<any API>())
    }
    #expect(try fresh.get(Container.Key<String>()) == "session")
    #expect(try fresh.child().get(Container.Key<Shop>()).api.host == "mock")
    #expect(try session.get(Container.Key<Shop>()).api.host == "real")
  }

  @Test func parallelTestsNeverSeeEachOthersValues() async throws {
    let container = shopContainer()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<50 {
        group.addTask {
          try await container.asCurrent {
            try await Container.withOverrides {
              try $0.set(RealAPI(host: "\(index)"), for: Container.Key<any API>())
            } perform: {
              await Task.yield()
              let shop: Shop = inject()
              async let other = Container.current.resolve(Container.Key<any API>()).host
              let hosts = [shop.api.host, try await other]
              return hosts == ["\(index)", "\(index)"]
            }
          }
        }
      }
      for try await isOwn in group { #expect(isOwn) }
    }
    #expect(try container.get(Container.Key<Shop>()).api.host == "real")
  }

  @Test func overrideHoldsInATaskButNotInADetachedOne() async throws {
    try await Container.withOverrides {
      try $0.set("override", for: Container.Key("override test"))
    } perform: {
      let key = Container.Key<String>("override test")
      let inherited = try await Task { try Container.current.find(key) }.value
      let detached = try await Task.detached { try Container.current.find(key) }.value
      #expect(inherited == "override")
      #expect(detached == nil)
    }
    #expect(Container.current === Container.main)
  }

  @Test func overridesNest() throws {
    let key = Container.Key<Int>("nesting test")
    try Container.withOverrides({ try $0.set(1, for: key) }) {
      try Container.withOverrides({ try $0.set(2, for: key) }) {
        #expect(inject(key) == 2)
      }
      #expect(inject(key) == 1)
    }
  }

  @Test func factorySeesItsOwnContainerAsCurrent() throws {
    let container = shopContainer()
    container.register(Container.Key("host")) { _ in inject(Container.Key<any API>()).host }
    let host = try Container.withOverrides {
      try $0.set(MockAPI(), for: Container.Key<any API>())
    } perform: {
      try container.get(Container.Key<String>("host"))
    }
    #expect(host == "real")
  }
}

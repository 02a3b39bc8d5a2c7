// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

@Suite(.timeLimit(hang)) struct OverrideTests {
  private func shopContainer() -> Container {
    Container { container in
      container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
      container.register(using: Shop.init)
    }
  }

  @Test func parallelTestsNeverSeeEachOthersValues() async throws {
    let container = shopContainer()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<50 {
        group.addTask {
          try await container.asCurrent {
            try await Container.current.child(fresh: true) {
              try $0.set(RealAPI(host: "\(index)"), for: Container.Key<any API>())
            }.asCurrent {
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
    try await Container.current.child(fresh: true) {
      $0.register(Container.Key("override test")) { _ in "override" }
    }.asCurrent {
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
    try Container.current.child(fresh: true) { $0.register(key) { _ in 1 } }.asCurrent {
      try Container.current.child(fresh: true) { try $0.set(2, for: key) }.asCurrent {
        #expect(inject(key) == 2)
      }
      #expect(inject(key) == 1)
    }
  }

  @Test func factorySeesItsOwnContainerAsCurrent() throws {
    let container = shopContainer()
    container.register(Container.Key("host")) { _ in inject(Container.Key<any API>()).host }
    let host = try Container.current.child(fresh: true) {
      $0.register(Container.Key<any API>()) { _ in MockAPI() }
    }.asCurrent {
      try container.get(Container.Key<String>("host"))
    }
    #expect(host == "real")
  }
}

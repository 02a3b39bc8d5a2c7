// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

@Suite(.timeLimit(hang)) struct ScopeTests {
  // AcRegister without options
  @Test func singletonIsMadeOnceAndOnlyWhenAskedFor() throws {
    let container = Container()
    let made = Counter()
    container.register { _ -> RealAPI in
      made.up()
      return RealAPI()
    }
    #expect(made.value == 0)
    let api: RealAPI = try container.get()
    #expect(try container.get(Container.Key<RealAPI>()) === api)
    #expect(made.value == 1)
  }

  // AcTemplate
  @Test func transientIsMadeForEachWhoAsks() throws {
    let container = Container()
    container.register(scope: .transient) { _ in RealAPI() }
    let api: RealAPI = try container.get()
    #expect(try container.get(Container.Key<RealAPI>()) !== api)
  }

  // AcWeak
  @Test func weakIsSharedWhileKeptAndMadeAgainAfterwards() throws {
    let container = Container()
    let made = Counter()
    container.register(scope: .weak) { _ in RealAPI(host: "\(made.up())") }
      .as(Container.Key<any API>()) { $0 }
    var api: RealAPI? = try container.get()
    #expect(try container.get(Container.Key<any API>()).host == "1")
    weak let gone = api
    api = nil
    #expect(gone == nil)
    #expect(try container.get(Container.Key<any API>()).host == "2")
  }

  @Test func weakExistentialIsSharedWhileKept() throws {
    let container = Container()
    container.register(Container.Key<any API>(), scope: .weak) { _ in RealAPI() }
    let api = try container.get(Container.Key<any API>()) as? RealAPI
    #expect(api != nil)
    #expect(try container.get(Container.Key<any API>()) as? RealAPI === api)
  }

  @Test func onlyClassInstancesCanBeWeak() throws {
    let container = Container()
    container.register(scope: .weak) { _ in 5 }
    #expect(injectionError { _ = try container.get(Container.Key<Int>()) }?.code == .notAClass)
    #expect(injectionError { try container.set("a", weak: true) }?.code == .notAClass)
    #expect(try container.find(Container.Key<String>()) == nil)
  }

  // AcReference and AcSet
  @Test func objectFromOutsideIsFoundAfterItIsSet() throws {
    let container = Container()
    try container.set(nil, for: Container.Key<RealAPI>())
    let error = injectionError { _ = try container.get(Container.Key<RealAPI>()) }
    #expect(error?.code == .missing)
    #expect(error?.cure == "It is registered but not set: call `set`.")
    #expect(try container.find(Container.Key<RealAPI>()) == nil)
    let api = RealAPI()
    try container.set(api)
    #expect(try container.get(Container.Key<RealAPI>()) === api)
    let other = RealAPI()
    try container.set(other)
    #expect(try container.get(Container.Key<RealAPI>()) === other)
    try container.set(nil, for: Container.Key<RealAPI>())
    #expect(try container.find(Container.Key<RealAPI>()) == nil)
  }

  // View controllers
  @Test func weaklySetObjectIsNotKept() throws {
    let container = Container()
    var api: RealAPI? = RealAPI()
    try container.set(api, weak: true)
    #expect(try container.get(Container.Key<RealAPI>()) === api)
    weak let gone = api
    api = nil
    #expect(gone == nil)
    #expect(try container.find(Container.Key<RealAPI>()) == nil)
  }

  @Test func replacedObjectFromOutsideIsLetGo() throws {
    let container = Container()
    var api: RealAPI? = RealAPI()
    try container.set(api)
    weak let gone = api
    api = nil
    #expect(gone != nil)
    try container.set(RealAPI())
    #expect(gone == nil)
  }

  // AcSet on a factory
  @Test func setReplacesAMadeSingletonForAllItsKeys() throws {
    let container = Container()
    container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
    for _ in 1...2 { #expect(try container.get(Container.Key<any API>()).host == "real") }
    try container.set(RealAPI(host: "set"))
    #expect(try container.get(Container.Key<RealAPI>()).host == "set")
    #expect(try container.get(Container.Key<any API>()).host == "set")
    try container.set(nil, for: Container.Key<RealAPI>())
    #expect(try container.get(Container.Key<any API>()).host == "real")
  }

  @Test func setOnAnAliasOrATransientReplacesThatKey() throws {
    let container = Container()
    container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
    container.register(scope: .transient) { _ in 5 }
    try container.set(MockAPI(), for: Container.Key<any API>())
    try container.set(6)
    #expect(try container.get(Container.Key<any API>()).host == "mock")
    #expect(try container.get(Container.Key<RealAPI>()).host == "real")
    for _ in 1...3 { #expect(try container.get(Container.Key<Int>()) == 6) }
    try container.set(nil, for: Container.Key<Int>())
    for _ in 1...3 { #expect(try container.get(Container.Key<Int>()) == 5) }
  }

  @Test func deinitMayUseTheContainer() throws {
    final class Last: Sendable {
      let action: @Sendable () -> Void
      init(_ action: @escaping @Sendable () -> Void) { self.action = action }
      deinit { action() }
    }
    let container = Container()
    let seen = Counter()
    container.register { _ in 5 }
    try container.set(
      Last { if (try? container.find(Container.Key<Last>())) != nil { seen.up() } })
    try container.set(Last {})
    #expect(seen.value == 1)
  }

  @Test func replacedObjectIsLetGoWithItsAliases() throws {
    let container = Container()
    container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
    weak var gone: RealAPI?
    do {
      let api = RealAPI(host: "first")
      try container.set(api)
      for _ in 1...3 { _ = try container.get(Container.Key<any API>()) }
      gone = api
    }
    #expect(gone != nil)
    try container.set(RealAPI(host: "set"))
    #expect(gone == nil)
  }

  @Test func weaklySetValueOfARecipeIsMadeAgainWhenItIsGone() throws {
    let container = Container()
    container.register { _ in RealAPI(host: "recipe") }
    var api: RealAPI? = RealAPI(host: "set")
    try container.set(api, weak: true)
    for _ in 1...3 { #expect(try container.get(Container.Key<RealAPI>()).host == "set") }
    api = nil
    for _ in 1...3 { #expect(try container.get(Container.Key<RealAPI>()).host == "recipe") }
  }

  @Test func failedSetChangesNothing() throws {
    let container = Container()
    container.register(make: { _ in RealAPI() }) { api, _ in
      if api.host == "bad" { throw Failure() }
    }
    let api: RealAPI = try container.get()
    #expect(throws: Failure.self) { try container.set(RealAPI(host: "bad")) }
    #expect(try container.get(Container.Key<RealAPI>()) === api)
  }
}

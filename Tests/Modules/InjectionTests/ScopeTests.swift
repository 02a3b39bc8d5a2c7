// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

@Suite(.timeLimit(hang)) struct ScopeTests {
  private let container = Container()

  // AcRegister without options
  @Test func singletonIsMadeOnceAndOnlyWhenAskedFor() throws {
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
  @Test func transientIsMadeForEachLookup() throws {
    container.register(scope: .transient) { _ in RealAPI() }
    let api: RealAPI = try container.get()
    #expect(try container.get(Container.Key<RealAPI>()) !== api)
  }

  // AcWeak
  @Test func weakIsSharedWhileKeptAndMadeAgainAfterwards() throws {
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
    container.register(Container.Key<any API>(), scope: .weak) { _ in RealAPI() }
    let api = try container.get(Container.Key<any API>()) as? RealAPI
    #expect(api != nil)
    #expect(try container.get(Container.Key<any API>()) as? RealAPI === api)
  }

  @Test func onlyClassInstancesCanBeWeak() throws {
    container.register(scope: .weak) { _ in 5 }
    #expect(injectionError { _ = try container.get(Container.Key<Int>()) }?.code == .notAClass)
    #expect(injectionError { try container.set("a", weak: true) }?.code == .notAClass)
    #expect(try container.find(Container.Key<String>()) == nil)
  }

  // AcReference and AcSet
  @Test func objectFromOutsideIsFoundAfterItIsSet() throws {
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

  // AcSet on a factory
  @Test func setOnATransientReplacesThatKey() throws {
    container.register(scope: .transient) { _ in 5 }
    try container.set(6)
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
    let seen = Counter()
    container.register { _ in 5 }
    try container.set(
      Last { if (try? container.find(Container.Key<Last>())) != nil { seen.up() } })
    try container.set(Last {})
    #expect(seen.value == 1)
  }
}

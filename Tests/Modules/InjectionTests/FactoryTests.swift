// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

@Suite(.timeLimit(hang)) struct FactoryTests {
  private let container = Container()

  // AcRegister
  @Test func closureMakesTheObject() throws {
    container.register { _ in RealAPI(host: "closure") }
    #expect(try container.get(Container.Key<RealAPI>()).host == "closure")
  }

  // AcInitializer, arguments by type
  @Test func initialiserArgumentsAreFoundByType() throws {
    container.register(using: MockAPI.init).as(Container.Key<any API>()) { $0 }
    container.register(using: Shop.init)
    let shop: Shop = try container.get()
    #expect(try shop.api as? MockAPI === container.get(Container.Key<MockAPI>()))
  }

  // AcInitializer with AcArg
  @Test func eachArgumentCanHaveItsOwnKey() throws {
    container.register(Container.Key<String>("first")) { _ in "a" }
    container.register(Container.Key<String>("second")) { _ in "b" }
    container.register(
      using: { (one: String, two: String) in RealAPI(host: one + two) },
      with: Container.Key("second"), Container.Key("first"))
    #expect(try container.get(Container.Key<RealAPI>()).host == "ba")
  }

  // AcNillable
  @Test func optionalArgumentIsNilOnlyWhileNothingIsThere() throws {
    container.register(scope: .transient, using: { (api: RealAPI?) in api?.host ?? "none" })
    #expect(try container.get(Container.Key<String>()) == "none")
    #expect(try container.get(Container.Key<RealAPI?>()) == nil)
    container.register { _ in RealAPI() }
    #expect(try container.get(Container.Key<String>()) == "real")
    #expect(throws: Never.self) { try container.validate() }
  }

  // AcTemplate, for an object that one task owns
  @Test func transientNeedNotBeSendable() throws {
    final class Sketch { var lines = 0 }
    container.register(scope: .transient) { _ in Sketch() }
    let one = try container.make(Container.Key<Sketch>())
    let two = try container.make(Container.Key<Sketch>())
    one.lines = 3
    #expect(two.lines == 0)
  }

  // AcTransient
  @Test func aClosureLooksUpWheneverItIsCalled() throws {
    container.register { c in { @Sendable in try c.find(Container.Key<RealAPI>("main"))?.host } }
    let host: @Sendable () throws -> String? = try container.get()
    #expect(try host() == nil)
    try container.set(RealAPI(), for: Container.Key("main"))
    #expect(try host() == "real")
    try container.set(nil, for: Container.Key<RealAPI>("main"))
    #expect(try host() == nil)
  }

  // AcInvoke with arguments
  @Test func makeUsesTheGivenArgumentsOnceAndKeepsNothing() throws {
    container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
    container.register(using: Shop.init)
    let given = try container.make(Container.Key<Shop>(), with: MockAPI() as any API)
    #expect(given.api.host == "mock")
    let kept: Shop = try container.get()
    #expect(kept.api.host == "real")
    #expect(try container.make(Container.Key<Shop>()) !== kept)
    #expect(try container.get(Container.Key<Shop>()) === kept)
  }

  @Test func makeDoesNotPassItsArgumentsToSharedObjects() throws {
    container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
    container.register(using: Shop.init)
    container.register(scope: .transient, using: { (shop: Shop) in shop.api.host })
    #expect(try container.make(Container.Key<String>(), with: MockAPI() as any API) == "real")
  }

  @Test func anArgumentIsNotTakenForWhatIsAskedFor() {
    let error = injectionError { _ = try Container().make(Container.Key<Int>(), with: 1) }
    #expect(error?.code == .missing)
  }

  @Test func twoGivenArgumentsOfOneTypeAreAnError() {
    container.register(using: { (host: String) in RealAPI(host: host) })
    let error = injectionError { _ = try container.make(Container.Key<RealAPI>(), with: "a", "b") }
    #expect(error?.code == .ambiguous)
  }

  // A factory that fails releases its claim.
  @Test func failedFactoryCanBeTriedAgain() throws {
    let tries = Counter()
    container.register { _ in
      if tries.up() < 3 { throw Failure() }
      return RealAPI()
    }
    for _ in 1...2 {
      #expect(throws: Failure.self) { _ = try container.get(Container.Key<RealAPI>()) }
    }
    #expect(try container.get(Container.Key<RealAPI>()).host == "real")
    #expect(tries.value == 3)
  }
}

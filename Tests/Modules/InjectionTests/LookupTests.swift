// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

extension Container.Key where Value == any API {
  fileprivate static var api: Self { Self("api") }
  fileprivate static var backup: Self { Self("backup") }
}

@Suite(.timeLimit(hang)) struct LookupTests {
  private let container = Container()

  // AcName, AcFactoryName
  @Test func nameDecidesExactly() throws {
    container.register(.api) { _ in RealAPI(host: "1") }
    container.register(.backup) { _ in RealAPI(host: "2") }
    #expect(try container.get(.api).host == "1")
    #expect(try container.get(.backup).host == "2")
    #expect(try container.find(Container.Key<any API>("other")) == nil)
  }

  // AcClass
  @Test func unnamedKeyFindsTheOnlyOneOfItsType() throws {
    container.register(.api) { _ in RealAPI() }
    let named = try container.get(.api) as? RealAPI
    #expect(try container.get(Container.Key<any API>()) as? RealAPI === named)
  }

  // AcProtocol, superclass: one object under several keys
  @Test func aliasesShareOneObject() throws {
    let made = Counter()
    container.register { _ -> Car in
      made.up()
      return Car()
    }
    .as(Container.Key<Vehicle>()) { $0 }
    .as(Container.Key<any Sendable>("car")) { $0 }
    .as(Container.Key<Car>("beetle")) { $0 }
    let car: Car = try container.get()
    #expect(try container.get(Container.Key<Vehicle>()) === car)
    #expect(try container.get(Container.Key<any Sendable>("car")) as? Car === car)
    #expect(try container.get(Container.Key<Car>("beetle")) === car)
    #expect(made.value == 1)
  }

  // AcPrimary
  @Test func primaryDecidesBetweenSeveral() throws {
    container.register(.api) { _ in RealAPI(host: "1") }
    container.register(.backup, primary: true) { _ in RealAPI(host: "2") }
    container.register { _ in MockAPI() }.as(Container.Key<any API>()) { $0 }
    #expect(try container.get(Container.Key<any API>()).host == "2")
  }

  @Test func primaryCountsThroughAnAlias() throws {
    container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
    container.register(primary: true) { _ in MockAPI() }.as(Container.Key<any API>()) { $0 }
    #expect(try container.get(Container.Key<any API>()).host == "mock")
  }

  @Test func severalWithoutPrimaryAreAmbiguousWithTheirNames() {
    container.register(.api) { _ in RealAPI() }
    container.register { _ in MockAPI() }.as(Container.Key<any API>()) { $0 }
    let error = injectionError { _ = try container.get(Container.Key<any API>()) }
    #expect(error?.code == .ambiguous)
    #expect(error?.candidates == ["API \"api\"", "MockAPI"])
    #expect(injectionError { _ = try container.find(Container.Key<any API>()) }?.code == .ambiguous)
  }

  // NSArray injection
  @Test func allReturnsEachOnceInRegistrationOrder() throws {
    let first = container.register { _ in MockAPI() }
    container.register(.api, primary: true) { _ in RealAPI(host: "second") }
    container.register { _ in RealAPI(host: "third") }
      .as(Container.Key<any API>()) { $0 }
      .as(.backup) { $0 }
    first.as(Container.Key<any API>()) { $0 }
    #expect(try container.all((any API).self).map(\.host) == ["mock", "second", "third"])
    let none: [String] = try container.all()
    #expect(none.isEmpty)
  }

  @Test func missingNamesTheKeyThePathAndTheCandidates() {
    container.register(.backup) { _ in RealAPI() }
    container.register(using: { Shop(api: $0) }, with: Container.Key<any API>.api)
    let error = injectionError { _ = try container.get(Container.Key<Shop>()) }
    #expect(error?.code == .missing)
    #expect(error?.key == "API \"api\"")
    #expect(error?.path == ["Shop", "API \"api\""])
    #expect(error?.candidates == ["API \"backup\""])
    #expect(error?.cure.isEmpty == false)
  }

  @Test func findDoesNotHideWhatIsMissingFurtherDown() {
    container.register(using: Shop.init)
    let error = injectionError { _ = try container.find(Container.Key<Shop>()) }
    #expect(error?.key == "API")
  }

  @Test func duplicateIsAnErrorForItsKeyOnly() throws {
    container.register(.api) { _ in RealAPI() }
    container.register(.api) { _ in MockAPI() }
    container.register(.backup) { _ in RealAPI(host: "fine") }
    #expect(injectionError { _ = try container.get(.api) }?.code == .duplicate)
    #expect(try container.get(.backup).host == "fine")
  }

  // --alchemic-nostart
  @Test func laterRegistrationIsSeenByTheNextLookup() throws {
    #expect(try container.find(Container.Key<RealAPI>()) == nil)
    container.register { _ in RealAPI() }
    #expect(try container.find(Container.Key<RealAPI>()) != nil)
    container.register(Container.Key("late")) { _ in RealAPI(host: "late") }
    #expect(try container.get(Container.Key<RealAPI>("late")).host == "late")
    #expect(injectionError { _ = try container.get(Container.Key<RealAPI>()) }?.code == .ambiguous)
  }

  @Test func descriptionListsKeysScopesAndWhatIsMade() throws {
    container.register(primary: true) { _ in RealAPI() }.as(.api) { $0 }
    container.register(Container.Key("n"), scope: .transient) { _ in 5 }
    container.register { _ async in Shop(api: MockAPI()) }
    try container.set(nil as MockAPI?)
    _ = try container.get(.api)
    #expect(
      container.description == """
        RealAPI, API "api": singleton, made, primary
        Int "n": transient
        Shop: singleton, async
        MockAPI: external, not set
        """)
    #expect(container.child().description.hasPrefix("nothing registered\nparent:\nRealAPI"))
  }
}

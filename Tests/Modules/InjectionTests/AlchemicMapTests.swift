// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

extension Container.Key where Value == RealAPI {
  fileprivate static var main: Self { Self("main") }
  fileprivate static var backup: Self { Self("backup") }
}

private typealias Key = Container.Key

/// Each test is named for what it was called in Alchemic: making, and telling apart.
@Suite(.timeLimit(hang)) struct AlchemicMapTests {
  let container = Container()

  @Test("AcRegister()") func acRegister() throws {
    container.register { _ in RealAPI() }
    let api: RealAPI = try container.get()
    #expect(try container.get(Key<RealAPI>()) === api)
  }

  @Test("AcRegister(AcTemplate)") func acTemplate() throws {
    container.register(scope: .transient) { _ in RealAPI() }
    #expect(try container.get(Key<RealAPI>()) !== container.get(Key<RealAPI>()))
  }

  @Test("AcRegister(AcPrimary)") func acPrimary() throws {
    container.register(.main) { _ in RealAPI(host: "main") }
    container.register(.backup, primary: true) { _ in RealAPI(host: "backup") }
    #expect(try container.get(Key<RealAPI>()).host == "backup")
  }

  @Test("AcRegister(AcWeak)") func acWeak() throws {
    container.register(scope: .weak) { _ in RealAPI() }
    var api: RealAPI? = try container.get()
    #expect(try container.get(Key<RealAPI>()) === api)
    weak let gone = api
    api = nil
    #expect(gone == nil)
  }

  @Test("AcRegister(AcFactoryName(…)), AcName(…)") func acFactoryName() throws {
    container.register(.main) { _ in RealAPI(host: "main") }
    container.register(.backup) { _ in RealAPI(host: "backup") }
    #expect(try container.get(.backup).host == "backup")
  }

  @Test("AcInitializer(…)") func acInitializer() throws {
    container.register(Key<any API>()) { _ in MockAPI() }
    container.register(using: Shop.init)
    #expect(try container.get(Key<Shop>()).api.host == "mock")
  }

  @Test("AcInitializer(…, AcArg(…))") func acArg() throws {
    container.register(.main) { _ in RealAPI(host: "main") }
    container.register(.backup) { _ in RealAPI(host: "backup") }
    container.register(
      using: { (one: RealAPI, two: RealAPI) in one.host + " " + two.host },
      with: Key.backup, Key.main)
    #expect(try container.get(Key<String>()) == "backup main")
  }

  @Test("AcInt(5), AcString(…), AcValue(…)") func acConstants() throws {
    container.register { _ in "name" }
    container.register { c in try RealAPI(host: c.get() + "\(5)") }
    #expect(try container.get(Key<RealAPI>()).host == "name5")
  }

  @Test("AcMethod(…)") func acMethod() throws {
    struct Factory: Sendable {
      func connect(_ port: Int) -> RealAPI { RealAPI(host: "port \(port)") }
    }
    container.register { _ in Factory() }
    container.register { _ in 80 }
    container.register { c in try (c.get() as Factory).connect(c.get()) }
    #expect(try container.get(Key<RealAPI>()).host == "port 80")
  }

  @Test("AcRegister(AcReference), AcSet(…)") func acReference() throws {
    try container.set(nil, for: Key.main)
    #expect(throws: InjectionError.self) { try container.get(.main) }
    let api = RealAPI()
    try container.set(api, for: .main)
    #expect(try container.get(.main) === api)
  }

  @Test("AcNillable") func acNillable() throws {
    container.register(scope: .transient, using: { (api: RealAPI?) in api?.host ?? "nil" })
    #expect(try container.find(Key<RealAPI>()) == nil)
    #expect(try container.get(Key<String>()) == "nil")
    try container.set(RealAPI())
    #expect(try container.get(Key<String>()) == "real")
  }

  @Test("AcTransient") func acTransientDependencyIsReadWhenNeeded() throws {
    container.register { c in { @Sendable in try c.find(Key.main)?.host } }
    let host: @Sendable () throws -> String? = try container.get()
    #expect(try host() == nil)
    try container.set(RealAPI(), for: .main)
    #expect(try host() == "real")
    try container.set(nil, for: .main)
    #expect(try host() == nil)
  }

  @Test("AcClass(…), AcProtocol(…)") func acClassAndAcProtocol() throws {
    container.register { _ in Car() }.as(Key<Vehicle>()) { $0 }
    container.register { _ in RealAPI() }.as(Key<any API>()) { $0 }
    #expect(try container.get(Key<Vehicle>()) === container.get(Key<Car>()))
    #expect(try container.get(Key<any API>()) as? RealAPI === container.get(Key<RealAPI>()))
  }

  @Test("AcInject into an NSArray") func acInjectArray() throws {
    container.register { _ in RealAPI() }.as(Key<any API>()) { $0 }
    container.register(primary: true) { _ in MockAPI() }.as(Key<any API>()) { $0 }
    let all: [any API] = try container.all()
    #expect(all.map(\.host) == ["real", "mock"])
  }

  @Test("AcGet(…)") func acGet() throws {
    container.register(.main) { _ in RealAPI() }
    let api: RealAPI = try container.get(.main)
    #expect(api.host == "real")
  }

  @Test("AcInvoke(AcName(…), …)") func acInvoke() throws {
    container.register(.main, scope: .transient, using: { RealAPI(host: $0) }, with: Key<String>())
    #expect(try container.make(.main, with: "given").host == "given")
  }
}

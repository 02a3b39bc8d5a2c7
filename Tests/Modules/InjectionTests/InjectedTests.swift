// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

extension Container.Key where Value == RealAPI {
  fileprivate static var screenAPI: Self { Self("screen") }
}

class Screen: Injectable {
  @Injected(.screenAPI) var api: RealAPI
  @Injected(.screenAPI) var nillable: RealAPI?
  @Injected var count: Int
  @Injected var title = "constant"
  var completed = 0
  func didInject() { completed += 1 }
}

final class SubScreen: Screen {
  @Injected var car: Car
}

@MainActor final class Controller: @MainActor Injectable {
  @Injected var api: RealAPI
  var host = ""
  func didInject() { host = api.host }
}

@MainActor final class Panel: @MainActor Injectable {
  @Injected var api: RealAPI
  var host = ""
  nonisolated init() {}
  func didInject() { host = api.host }
}

final class Service: Injectable, Sendable {
  let api: RealAPI = inject()
  let completed = Counter()
  func didInject() { completed.up() }
}

@Suite(.timeLimit(hang)) struct InjectedTests {
  private let container = Container { container in
    container.register(.screenAPI) { _ in RealAPI() }
    container.register { _ in 5 }
    container.register { _ in Car() }
  }

  // AcInjectDependencies, alchemicDidInjectDependencies
  @Test func injectFillsAnObjectMadeElsewhereAndTellsIt() throws {
    let screen = SubScreen()
    try container.inject(into: screen)
    #expect(try screen.api === container.get(.screenAPI))
    #expect(try screen.car === container.get(Container.Key<Car>()))
    #expect(screen.nillable === screen.api)
    #expect(screen.count == 5)
    #expect(screen.title == "constant")
    #expect(screen.completed == 1)
  }

  @Test func assignedPropertyIsKept() throws {
    let screen = Screen()
    let own = RealAPI()
    screen.api = own
    screen.title = "own"
    try container.inject(into: screen)
    #expect(screen.api === own)
    #expect(screen.title == "own")
  }

  @Test func injectReportsAMissingPropertyBeforeItTellsTheObject() {
    let screen = Screen()
    let error = injectionError { try Container().inject(into: screen) }
    #expect(error?.key == "RealAPI \"screen\"")
    #expect(screen.completed == 0)
  }

  @Test func propertyIsFilledOnFirstReadFromTheContainerCurrentAtCreation() throws {
    let screen = container.asCurrent { Screen() }
    #expect(try screen.api === container.get(.screenAPI))
    let bare = Container { $0.register { _ in 1 } }.asCurrent { Screen() }
    #expect(bare.nillable == nil)
    #expect(bare.count == 1)
  }

  // AcInject
  @Test func madeObjectIsInjectedAndNotifiedOnce() throws {
    container.register { _ in Service() }
    let service: Service = try container.get()
    #expect(try service.api === container.get(.screenAPI))
    _ = try container.get(Container.Key<Service>())
    #expect(service.completed.value == 1)
    let screens = Container()
    screens.register(scope: .transient) { _ in Screen() }
    #expect(throws: InjectionError.self) { _ = try screens.make(Container.Key<Screen>()) }
    let screen = try container.child { c in
      c.register(scope: .transient) { _ in Screen() }
    }.make(Container.Key<Screen>())
    #expect(screen.completed == 1)
  }

  @Test func oneRecipeMayMakePlainAndInjectableObjects() throws {
    let told = Counter()
    container.register(Container.Key<any Sendable>(), scope: .transient) { c -> any Sendable in
      if try c.get(Container.Key<Int>()) == 5 { return Told { told.up() } }
      return Counter()
    }
    for number in [1, 5, 1, 5, 5] {
      try container.set(number)
      _ = try container.make(Container.Key<any Sendable>())
    }
    #expect(told.value == 3)
  }

  // AcSet with the app delegate
  @Test func setInjectsTheObjectBeforeOthersSeeIt() throws {
    let service = container.asCurrent { Service() }
    try container.set(service)
    #expect(service.completed.value == 1)
    #expect(try container.get(Container.Key<Service>()) === service)
  }

  @Test @MainActor func actorIsolatedObjectIsInjectedOnItsActor() throws {
    let controller = Controller()
    try container.inject(into: controller)
    #expect(controller.host == "real")
    let other = Controller()
    try container.set(other, weak: true)
    #expect(other.host == "real")
  }

  @Test func anObjectOfAnActorIsInjectedThereAlsoIfAnotherThreadAskedFirst() async throws {
    container.register(scope: .transient) { _ in Panel() }
    _ = try await Task.detached { [container] in try container.get(Container.Key<Panel>()) }.value
    let host = try await MainActor.run { try container.get(Container.Key<Panel>()).host }
    #expect(host == "real")
  }

  @Test func injectWithoutRegistrationTrapsWithTheText() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let _: RealAPI = inject(Container.Key("absent"))
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("RealAPI \"absent\": nothing is registered or set for it. Register it"))
  }
}

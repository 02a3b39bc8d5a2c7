// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Observation
import Testing

/// Objects that reflection does not show as they are.
@Suite(.timeLimit(hang)) struct HiddenTests {
  // Sendable: used by one thread.
  private class Debugged: Injectable, CustomReflectable, @unchecked Sendable {
    @Injected var api: RealAPI
    @Injected var prepName = "own"
    var completed = 0
    var customMirror: Mirror { Mirror(self, children: [("state", "fine")]) }
    func didInject() { completed += 1 }
  }

  private final class Derived: Debugged, @unchecked Sendable {
    @Injected var count: Int
  }

  private final class Plain: Injectable {
    @Injected var prepName = "plain"
    func didInject() {}
  }

  private final class Bare: Injectable {
    func didInject() {}
  }

  private actor Worker: Injectable {
    nonisolated func didInject() {}
  }

  // Sendable: used by one thread.
  @Observable final class Watched: Injectable, @unchecked Sendable {
    @ObservationIgnored @Injected var api: RealAPI
    var text = ""
    func didInject() {}
  }

  private let container = Container { c in
    c.register { _ in RealAPI() }
    c.register { _ in 5 }
  }

  private func expectHidden(_ body: () throws -> Void) {
    let error = injectionError(body)
    #expect(error?.code == .hidden)
    #expect(error?.cure == "Remove its `customMirror`, which hides them.")
  }

  @Test func aCustomMirrorIsAnError() {
    let object = Debugged()
    expectHidden { try container.inject(into: object) }
    expectHidden { try container.inject(into: Derived()) }
    expectHidden { try container.set(object) }
    container.register { _ in Debugged() }
    expectHidden { _ = try container.get(Container.Key<Debugged>()) }
    #expect(object.completed == 0)
  }

  @Test func nothingIsHandedOverWhereACustomMirrorHidesIt() {
    let (object, plain) = (Debugged(), Plain())
    expectHidden { try Container.handOff(from: object, to: plain, prefix: "prep") }
    expectHidden { try Container.handOff(from: plain, to: object, prefix: "prep") }
    #expect(plain.prepName == "plain")
    #expect(object.prepName == "own")
  }

  @Test func classesOfTheSystemMayHideTheirProperties() {
    for name in ["__C.UIViewController", "SwiftUI.UIHostingController<App.Home>", "NSObject"] {
      #expect(!Mirror.isClient(name))
    }
    #expect(Mirror.isClient("App.Screen"))
    #expect(Mirror.isClient("App.(unknown context at $1).Screen"))
  }

  @Test func whatHasNoPropertiesOrOthersIsNoError() throws {
    try container.inject(into: Bare())
    try container.inject(into: Worker())
    let watched = Watched()
    try container.inject(into: watched)
    #expect(try watched.api === container.get(Container.Key<RealAPI>()))
  }
}

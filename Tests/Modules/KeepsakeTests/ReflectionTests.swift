// SPDX-License-Identifier: Apache-2.0
//
// Classes whose properties reflection does not show: a store could not find its settings, nor a
// container what to inject.

import Keepsake
import KeepsakeInjection
import Nameless
import Testing
import Unreflected

@Suite struct ReflectionTests {
  private static let cure =
    "with reflection metadata: without -disable-reflection-metadata, in Xcode with"
    + " SWIFT_REFLECTION_METADATA_LEVEL = all"

  /// Its own properties are shown, and the inherited one is not.
  final class Derived: UnreflectedBase, @unchecked Sendable {
    @Setting var size = 1
  }

  final class DerivedScreen: UnreflectedScreen, @unchecked Sendable {
    @Injected var count: Int
  }

  final class Window: UnreflectedWindow, Injectable, @unchecked Sendable {
    @Injected var count: Int
    var isInjected = false
    func didInject() { isInjected = true }
  }

  @Test func aStoreWithoutReflectionMetadataDoesNotOpen() {
    let error = #expect(throws: SettingDeclarationError.self) {
      try UnreflectedSettings(on: .inMemory())
    }
    #expect(
      error?.description == "UnreflectedSettings: reflection does not show the settings of "
        + "UnreflectedSettings; compile it " + Self.cure)
  }

  @Test func aStoreThatInheritsFromOneDoesNotOpen() {
    let error = #expect(throws: SettingDeclarationError.self) { try Derived(on: .inMemory()) }
    #expect(
      error?.description == "Derived: reflection does not show the settings of UnreflectedBase; "
        + "compile it " + Self.cure)
  }

  @Test func aStoreWithoutPropertiesNeedsNoMetadata() throws {
    #expect(try NoSettings(on: .inMemory()).read("username") == nil)
  }

  @Test func aStoreWithoutNamesNeedsKeys() throws {
    #expect(throws: SettingDeclarationError.self) { try NamelessSettings(on: .inMemory()) }
    let settings = try KeyedSettings(on: .inMemory())
    settings.username = "ada"
    #expect(try settings.read("username") == "ada")
  }

  // MARK: - Injection

  private let container = Container { c in
    c.register { _ in "name" }
    c.register { _ in 5 }
  }

  private func expectHidden(
    _ type: String = "UnreflectedScreen", level: String = "UnreflectedScreen",
    _ body: () throws -> Void
  ) {
    let error = #expect(throws: InjectionError.self) { try body() }
    #expect(error?.code == .hidden)
    #expect(error?.key == type)
    #expect(error?.cure == "Compile \(level) " + Self.cure + ".")
  }

  @Test func anObjectWithoutReflectionMetadataIsNotInjected() {
    let screen = UnreflectedScreen()
    expectHidden { try container.inject(into: screen) }
    expectHidden { try container.set(screen) }
    expectHidden("DerivedScreen") { try container.inject(into: DerivedScreen()) }
    container.register { _ in UnreflectedScreen() }
    expectHidden { _ = try container.get(Container.Key<UnreflectedScreen>()) }
    expectHidden { _ = try container.make(Container.Key<UnreflectedScreen>()) }
    #expect(screen.injections == 0)
  }

  @Test func nothingIsHandedOverToOrFromSuchAnObject() {
    let screen = UnreflectedScreen()
    screen.name = "kept"
    expectHidden { try Container.handOff(from: NoProperties(), to: screen) }
    expectHidden { try Container.handOff(from: screen, to: NoProperties()) }
    #expect(screen.name == "kept")
  }

  @Test func anObjectWithoutPropertiesNeedsNoMetadata() throws {
    try container.inject(into: NoProperties())
  }

  @Test func aSuperclassThatIsNotInjectableNeedsMetadataToo() {
    let window = Window()
    expectHidden("Window", level: "UnreflectedWindow") { try container.inject(into: window) }
    #expect(!window.isInjected)
  }

  @Test func anObjectWithoutNamesIsInjectedButNotHandedOver() throws {
    let (one, other) = (NamelessScreen(), NamelessScreen())
    try container.inject(into: one)
    #expect(one.first == "name")
    let error = #expect(throws: InjectionError.self) { try Container.handOff(from: one, to: other) }
    #expect(error?.code == .hidden)
    #expect(
      error?.cure
        == "Compile NamelessScreen with their names: without -disable-reflection-names.")
  }
}

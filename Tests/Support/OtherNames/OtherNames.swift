// SPDX-License-Identifier: Apache-2.0
//
// Names that packages beside ours have at their top level, as stand-ins: of Factory `Container`,
// `Factory` and `Injected`, of Swinject `Container`, `Resolver` and `Assembly`, of Resolver
// `Resolver` and `Injected`, of DeepDiff `Change`, of DeviceKit `Device`. The others are words that
// packages and modules of an application use as they are.

public protocol Resolver { func resolve<Service>(_ type: Service.Type) -> Service? }

public protocol Assembly { func assemble(container: Container) }

public final class Container: Resolver {
  private var services: [ObjectIdentifier: Any] = [:]
  public init() {}
  public func register<Service>(_ type: Service.Type, _ service: Service) {
    services[ObjectIdentifier(type)] = service
  }
  public func resolve<Service>(_ type: Service.Type) -> Service? {
    services[ObjectIdentifier(type)] as? Service
  }
}

public struct Factory<Service> {
  private let make: () -> Service
  public init(_ make: @escaping () -> Service) { self.make = make }
  public func callAsFunction() -> Service { make() }
}

@propertyWrapper public struct Injected<Service> {
  public let wrappedValue: Service
  public init(_ factory: Factory<Service>) { wrappedValue = factory() }
}

public func inject<Service>(_ factory: Factory<Service> = Factory { 1 }) -> Service { factory() }

public enum Change<Item> { case insert(Item), delete(Item) }

public enum Device { case phone, tablet }

public struct Access { public init() {} }
public struct Backup { public init() {} }
public struct Compaction { public init() {} }
public struct Damage { public init() {} }
public struct Explanation { public init() {} }
public struct Key { public init() {} }
public struct Peer { public init() {} }
public struct Recovery { public init() {} }
public enum Scope { case singleton, unique }

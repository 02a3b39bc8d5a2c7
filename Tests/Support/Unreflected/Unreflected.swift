// SPDX-License-Identifier: Apache-2.0
//
// Compiled without reflection metadata.

public import Keepsake
public import KeepsakeInjection

public final class UnreflectedSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting public var username = "guest"
}

open class UnreflectedBase: UserDefaultsStore, @unchecked Sendable {
  @Setting public var theme = "light"
}

public final class NoSettings: UserDefaultsStore, @unchecked Sendable {}

// Sendable: used by one thread.
open class UnreflectedScreen: Injectable, @unchecked Sendable {
  @Injected public var name: String
  public var injections = 0

  public init() {}

  open func didInject() { injections += 1 }
}

// Sendable: used by one thread.
open class UnreflectedWindow: @unchecked Sendable {
  @Injected public var title: String

  public init() {}
}

public final class NoProperties: Injectable, Sendable {
  public init() {}

  public func didInject() {}
}

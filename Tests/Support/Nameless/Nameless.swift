// SPDX-License-Identifier: Apache-2.0
//
// Compiled without the names of properties.

public import Keepsake
public import KeepsakeInjection

public final class NamelessSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting public var username = "guest"
}

public final class KeyedSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting("username") public var username = "guest"
}

public final class NamelessScreen: Injectable {
  @Injected public var first: String?
  @Injected public var second: String?

  public init() {}

  public func didInject() {}
}

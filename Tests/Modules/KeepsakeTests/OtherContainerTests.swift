// SPDX-License-Identifier: Apache-2.0
//
// A file that uses two containers, as while an application changes from one to the other.

import Keepsake
import KeepsakeInjection
import OtherNames
import Testing

@Suite struct OtherContainerTests {
  @Test func ourContainerHasItsModulesName() throws {
    let theirs = OtherNames.Container()
    let ours = KeepsakeInjection.Container(StoreModules.userDefaults) { c in
      c.register { _ in try Keepsake.Device.inMemory() }
    }
    theirs.register(UserDefaultsStore.self, try ours.get(.userDefaults))
    let store: UserDefaultsStore = ours.asCurrent { KeepsakeInjection.inject() }
    #expect(theirs.resolve(UserDefaultsStore.self) === store)
    #expect(OtherNames.inject() == 1)
  }
}

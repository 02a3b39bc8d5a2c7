// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle

extension PropertyListLimits {
  /// For files that the user names: far above every settings file, far below what a machine has.
  package static var generous: PropertyListLimits {
    var limits = PropertyListLimits()
    limits.bytes = 256 << 20
    limits.depth = 512
    limits.elements = 1_000_000
    limits.textBytes = 64 << 20
    return limits
  }
}

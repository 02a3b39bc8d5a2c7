// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeSettingsBundle
import KeepsakeValues

extension Device {
  /// Makes what a Settings bundle declares the defaults of a store, in place of what it declared
  /// before. Nothing that was set is touched.
  ///
  /// - Throws: `KeepsakeError`; then the defaults are as they were.
  package func seed(store: String, from bundle: SettingsBundle) throws(KeepsakeError) {
    try seed(store: store, bundle: bundle.identifier, bundle.defaults)
  }
}

extension SettingsBundle {
  /// The seeds as a device keeps them.
  var defaults: [DefaultValue] {
    seeds.map { DefaultValue(key: $0.key, value: $0.value, source: $0.place) }
  }
}

extension Device {
  /// Repairs a clock that had run ahead, when a store is opened.
  func settleTime(telling failures: FailureLog) throws(KeepsakeError) {
    if let repair = try repairClock(as: .random()) {
      failures.warn(
        "\(path): its clock had run ahead by \(repair.ahead / 1000) s; "
          + counted(repair.restamped, "entry", plural: "entries")
          + " now counts as written today, and the device has a new replica ID")
    }
  }
}

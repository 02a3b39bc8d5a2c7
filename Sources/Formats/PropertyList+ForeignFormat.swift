// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle

extension PropertyList {
  /// The error for bytes that are recognisably not XML in UTF-8; nil for others.
  static func foreignFormat(_ bytes: [UInt8], file: String) -> PropertyListError? {
    do throws(Fault) {
      try ForeignFormat.refuse(bytes)
      return nil
    } catch {
      return PropertyListError(error, file: file, map: SourceMap(bytes), keyPath: nil)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle

extension PropertyList {
  /// The text in UTF-8; nil if the bytes are neither UTF-16 nor UTF-32. O(n).
  package static func transcoded(
    _ bytes: [UInt8], file: String
  ) throws(PropertyListError) -> [UInt8]? {
    do throws(Fault) {
      return try WideText.utf8(bytes)
    } catch {
      throw PropertyListError(error, file: file, map: SourceMap(bytes), keyPath: nil)
    }
  }

  /// The error for bytes that are recognisably not XML in UTF-8; nil for others.
  package static func foreignFormat(_ bytes: [UInt8], file: String) -> PropertyListError? {
    do throws(Fault) {
      try ForeignFormat.refuse(bytes)
      return nil
    } catch {
      return PropertyListError(error, file: file, map: SourceMap(bytes), keyPath: nil)
    }
  }
}

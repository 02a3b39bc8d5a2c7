// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle

extension PropertyList {
  /// The same text in UTF-8; nil if it is not in UTF-16 or UTF-32.
  package static func transcoded(
    _ bytes: [UInt8], file: String
  ) throws(PropertyListError) -> [UInt8]? {
    do throws(Fault) {
      return try WideText.utf8(bytes)
    } catch {
      throw PropertyListError(error, file: file, map: SourceMap(bytes), keyPath: nil)
    }
  }

  /// What the file is, if it is recognisably no XML in UTF-8.
  package static func foreignFormat(_ bytes: [UInt8], file: String) -> PropertyListError? {
    do throws(Fault) {
      try ForeignFormat.refuse(bytes)
      return nil
    } catch {
      return PropertyListError(error, file: file, map: SourceMap(bytes), keyPath: nil)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle

/// A pane with these specifiers, each the XML of a dictionary's members and on one line: the first
/// is on line 6.
package func pane(_ specifiers: String...) -> String {
  """
  <?xml version="1.0" encoding="UTF-8"?>
  <plist version="1.0">
  <dict>
  <key>PreferenceSpecifiers</key>
  <array>
  \(specifiers.map { "<dict>\($0)</dict>" }.joined(separator: "\n"))
  </array>
  </dict>
  </plist>
  """
}

/// Members of a dictionary: `Type` first, then pairs of a key and XML.
package func members(_ type: String, _ pairs: KeyValuePairs<String, String> = [:]) -> String {
  "<key>Type</key><string>\(type)</string>"
    + pairs.map { "<key>\($0)</key>\($1)" }.joined()
}

package func toggle(_ key: String, _ value: String = "<true/>") -> String {
  members(
    "PSToggleSwitchSpecifier",
    ["Title": "<string>t</string>", "Key": "<string>\(key)</string>", "DefaultValue": value])
}

package func child(_ file: String) -> String {
  members(
    "PSChildPaneSpecifier", ["Title": "<string>t</string>", "File": "<string>\(file)</string>"])
}

/// What came of a bundle, as lines: seeds as `key=value file:line`, warnings as
/// `warning file:line:column`, an error as `error file:line:column code` with the last part of its
/// path.
package func outcome(
  _ path: String, _ mode: SettingsBundle.Mode,
  limits: SettingsBundle.Limits = SettingsBundle.Limits()
) -> [String] {
  do throws(PropertyListError) {
    let bundle = try SettingsBundle(at: path, mode: mode, limits: limits)
    return bundle.seeds.map { "\($0.key)=\($0.value) \($0.place)" }
      + bundle.warnings.map { "warning \($0.place)" }
  } catch {
    let file = error.file.split(separator: "/").last ?? ""
    return ["error \(file)\(error.position.map { ":\($0)" } ?? "") \(error.code.rawValue)"]
  }
}

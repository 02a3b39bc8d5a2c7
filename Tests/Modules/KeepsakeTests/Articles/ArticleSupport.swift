// SPDX-License-Identifier: Apache-2.0
//
// The files of this folder hold the snippets of the module's articles, to the letter; a project
// test compares them.

import Foundation
import Keepsake
import Synchronization

/// What the closures of an article have told.
final class ArticleLog: Sendable {
  private let told = Mutex<(lines: [String], changes: [SettingChange])>(([], []))

  var lines: [String] { told.withLock { $0.lines } }
  var changes: [SettingChange] { told.withLock { $0.changes } }

  func add(_ line: String) { told.withLock { $0.lines.append(line) } }
  func add(_ changes: [SettingChange]) { told.withLock { $0.changes += changes } }
}

/// A Settings bundle with one row, in a folder that goes with it.
struct SmallBundle {
  private let folder: TemporaryFolder
  let url: URL

  init(_ key: String, default value: Int) throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.path + "/Settings.bundle")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    let plist = """
      <plist version="1.0"><dict><key>PreferenceSpecifiers</key><array><dict>
      <key>Type</key><string>PSMultiValueSpecifier</string><key>Title</key><string>Row</string>
      <key>Key</key><string>\(key)</string><key>DefaultValue</key><integer>\(value)</integer>
      <key>Values</key><array><integer>\(value)</integer></array>
      <key>Titles</key><array><string>Only</string></array>
      </dict></array></dict></plist>
      """
    try Data(plist.utf8).write(to: url.appendingPathComponent("Root.plist"))
  }
}

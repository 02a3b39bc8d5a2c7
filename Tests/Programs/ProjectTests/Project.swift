// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// The project's own files.
enum Project {
  static let root = Checkout.root

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// What stands between the fences of a language in an article.
  static func blocks(_ language: String, of file: String) throws -> [String] {
    let parts = try text(file).components(separatedBy: "```\(language)\n")
    return parts.dropFirst().map { $0.components(separatedBy: "```")[0] }
  }

  /// Paths of files below some folders, relative to the root.
  static func files(in folders: [String], _ suffix: String) throws -> [String] {
    try folders.flatMap { folder in
      let names = FileManager.default.enumerator(
        atPath: root.appendingPathComponent(folder).path)
      guard let names else { throw CocoaError(.fileNoSuchFile) }
      return names.compactMap { $0 as? String }
        .filter { $0.hasSuffix(suffix) && !$0.contains(".build/") }
        .map { folder + "/" + $0 }
    }.sorted()
  }

  /// The lines without the blanks around them, and without empty ones.
  static func unindented(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .joined(separator: "\n")
  }
}

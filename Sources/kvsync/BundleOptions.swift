// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeSettingsBundle

/// Options of the commands that read a Settings bundle.
struct BundleOptions: ParsableArguments {
  /// The names of `--limit`.
  enum Limit: String, CaseIterable {
    case panes, paneDepth = "pane-depth", bytes, elements
    case fileBytes = "file-bytes", fileElements = "file-elements"
    case depth, text

    var path: WritableKeyPath<SettingsBundle.Limits, Int> {
      switch self {
      case .panes: \.panes
      case .paneDepth: \.paneDepth
      case .bytes: \.bytes
      case .elements: \.elements
      case .fileBytes: \.file.bytes
      case .fileElements: \.file.elements
      case .depth: \.file.depth
      case .text: \.file.textBytes
      }
    }

    static let names = allCases.map(\.rawValue).joined(separator: ", ")
    static let defaults = allCases.map { limit in
      "\(limit.rawValue)=\(SettingsBundle.Limits()[keyPath: limit.path])"
    }.joined(separator: ", ")
  }

  @Option(
    name: .customLong("limit"),
    help: ArgumentHelp(
      "What reading a bundle may cost (repeatable). (default: \(Limit.defaults))",
      valueName: "name=number"),
    transform: Self.limit)
  var changes: [(limit: Limit, value: Int)] = []

  var limits: SettingsBundle.Limits {
    changes.reduce(into: SettingsBundle.Limits()) { $0[keyPath: $1.limit.path] = $1.value }
  }

  private static func limit(_ text: String) throws -> (limit: Limit, value: Int) {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let limit = Limit(rawValue: parts[0]), let value = Int(parts[1]),
      value > 0
    else {
      throw ValidationError("not a limit; write a number after one of \(Limit.names), as panes=9")
    }
    return (limit, value)
  }
}

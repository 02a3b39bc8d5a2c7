// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension Lint {
  /// Property lists in the panes' folders that no row refers to.
  ///
  /// - Parameter readings: the bundle as each kind of device reads it.
  static func unreferencedFiles(in readings: [SettingsBundle]) -> [SettingsBundle.Finding] {
    guard let folder = readings.first?.folder, folder.isBundle else { return [] }
    let panes = readings.flatMap(\.panes)
    let known = Set(panes.flatMap { [$0.file] + $0.childFiles }.map(general))
    return propertyLists(beside: panes, in: folder).filter { !known.contains(general($0)) }.map {
      SettingsBundle.Finding(
        severity: .warning, rule: LintRule.unreferencedFile.rawValue, file: $0,
        position: SourceMap([]).position(of: 0), keyPath: nil,
        message: "no row refers to this file; add one, or remove the file", offset: 0)
    }
  }

  /// The property lists in the panes' folders, by name.
  static func propertyLists(beside panes: [SettingsPane], in folder: BundleFolder) -> [String] {
    Set(panes.map(\.folder)).sorted().flatMap { subfolder in
      folder.names(in: subfolder).filter { $0.hasSuffix(".plist") }
        .map { subfolder.isEmpty ? $0 : "\(subfolder)/\($0)" }
    }
  }

  /// The file that `file` is a variant of, for a device or for InAppSettingsKit
  /// (`Root.inApp.plist`).
  private static func general(_ file: String) -> ByteText {
    var stem = file.utf8.dropLast(6)
    let suffixes = [".inApp"] + SettingsBundle.Idiom.allCases.map { "~\($0.suffix)" }
    while let suffix = suffixes.first(where: { stem.suffix($0.utf8.count).elementsEqual($0.utf8) })
    {
      stem = stem.dropLast(suffix.utf8.count)
    }
    return ByteText(String(decoding: stem, as: UTF8.self))
  }
}

extension SettingsPane {
  /// The path of its folder in the bundle, "" for the bundle itself.
  var folder: String { file.split(separator: "/").dropLast().joined(separator: "/") }

  /// The files that rows refer to, existing or not.
  fileprivate var childFiles: [String] {
    specifiers.compactMap(\.paneName).compactMap { name in
      do throws(Fault) {
        return try PanePath.file(name, at: 0)
      } catch {
        return nil
      }
    }
  }
}

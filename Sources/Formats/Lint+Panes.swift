// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension Lint {
  /// Checks for a key in several rows. Reading reports rows whose defaults differ.
  mutating func checkKeys() {
    var first: [ByteText: (place: String, value: StoredValue?)] = [:]
    for pane in bundle.panes {
      for specifier in pane.specifiers where specifier.isKeyed {
        guard let node = specifier.node["Key"], let key = node.string, !key.isEmpty else {
          continue
        }
        let value = specifier.defaultValue?.ifStorable
        guard let earlier = first[ByteText(key)] else {
          first[ByteText(key)] = (pane.place(of: Int(node.offset)), value)
          continue
        }
        guard value == nil || earlier.value == nil || value == earlier.value else { continue }
        warn(
          .repeatedKey, at: Int(node.offset), in: pane,
          "the key \(key.quoted) has a row at \(earlier.place) already",
          cure: "rename one, unless both are meant to change one setting")
      }
    }
  }

  mutating func checkPanes() {
    for (place, pane) in bundle.panes.enumerated() {
      checkGroup(of: pane, isRoot: place == 0)
      checkTable(of: pane)
      guard let list = pane.root["PreferenceSpecifiers"] else { continue }
      if list.array?.isEmpty == true {
        warn(
          .emptyPane, at: Int(list.offset), in: pane, "this pane has no rows",
          cure: "add some, or remove the pane")
      }
      for specifier in pane.specifiers { checkName(of: specifier, pane) }
    }
    var (open, entered): ([Int], Set<Int>) = ([], [0])
    checkCycles(from: 0, &open, &entered)
  }

  private mutating func checkGroup(of pane: SettingsPane, isRoot: Bool) {
    guard !isRoot, let group = pane.root["ApplicationGroupContainerIdentifier"],
      group.string.map(ByteText.init) != bundle.suite.map(ByteText.init)
    else { return }
    warn(
      .applicationGroup, at: Int(group.offset), in: pane,
      "this ApplicationGroupContainerIdentifier differs from the root's, and is ignored",
      cure: "write the root's, or none")
  }

  private mutating func checkTable(of pane: SettingsPane) {
    guard let table = pane.root["StringsTable"], table.string == nil else { return }
    warn(
      .unknownValue, at: Int(table.offset), in: pane,
      "StringsTable is \(table.kindName), not the name of a file",
      cure: "name a .strings file, without its extension, or remove the key")
  }

  private mutating func checkName(of specifier: SettingsSpecifier, _ pane: SettingsPane) {
    guard specifier.kind == .childPane, let node = specifier.node["File"], let name = node.string,
      name.hasByteSuffix(".plist") || name.utf8.contains(UInt8(ascii: "/"))
    else { return }
    warn(
      .paneName, at: Int(node.offset), in: pane,
      "the schema requires a file name in the folder of \(bundle.panes[0].file), without .plist",
      cure: "move the file there and write its bare name")
  }

  /// Enters each pane once and in the order of reading, so the depth is within the limit.
  private mutating func checkCycles(
    from place: Int, _ open: inout [Int], _ entered: inout Set<Int>
  ) {
    open.append(place)
    let pane = bundle.panes[place]
    for specifier in pane.specifiers {
      guard let child = pane.children[specifier.node.offset] else { continue }
      if open.contains(child), let node = specifier.node["File"] {
        warn(
          .paneCycle, at: Int(node.offset), in: pane,
          "this row leads back to \(bundle.panes[child].file) and closes a cycle", cure: "remove it"
        )
      } else if entered.insert(child).inserted {
        checkCycles(from: child, &open, &entered)
      }
    }
    open.removeLast()
  }

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

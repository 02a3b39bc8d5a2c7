// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle
import KeepsakeValues

/// A pane as the Settings app shows it, with untranslated titles: groups of rows, and child panes
/// within their rows.
package struct SettingsOutline: Sendable {
  /// The title of the row that opens the pane, or of the root pane; nil for a root without a title.
  package let title: String?
  /// The path in the bundle, such as `Root.plist`.
  package let file: String
  package let groups: [Group]

  package struct Group: Sendable {
    /// Nil for the rows before the first group.
    package var title: String?
    package var footer: String?
    package var rows: [Row] = []
  }

  package struct Row: Sendable {
    package let specifier: SettingsSpecifier
    package let title: String?
    /// The choices of a multi-value, a radio group, or a title with values.
    package let choices: [Choice]
    package var child: Child?
  }

  package struct Choice: Sendable {
    package let title: String
    package let value: PropertyListNode
    package let isDefault: Bool
  }

  package indirect enum Child: Sendable {
    case pane(SettingsOutline)
    /// The outline already has this pane at an earlier row.
    case shownAbove(file: String)
    /// The file does not exist.
    case missing
    /// The file exists, but reading skipped it after a warning.
    case refused
  }
}

extension SettingsBundle {
  /// The bundle as the Settings app shows it. A pane with several rows appears at the first one
  /// only.
  ///
  /// - Parameter idiom: the device whose rows to include; nil for all rows.
  package func outline(idiom: Idiom? = nil) -> SettingsOutline {
    var builder = OutlineBuilder(panes: panes, idiom: idiom)
    return builder.outline(of: 0, title: panes[0].title)
  }
}

/// Recursive: reading has limited the depth of panes.
private struct OutlineBuilder {
  let panes: [SettingsPane]
  let idiom: SettingsBundle.Idiom?
  var shown: Set<Int> = []

  /// - Parameter title: the title of the pane, or of the row that opens a child pane.
  mutating func outline(of index: Int, title: String?) -> SettingsOutline {
    shown.insert(index)
    let pane = panes[index]
    var groups = [SettingsOutline.Group()]
    for specifier in pane.specifiers where idiom.map(specifier.isShown) ?? true {
      switch specifier.kind {
      case .malformed: continue
      case .group, .radioGroup:
        groups.append(SettingsOutline.Group(title: specifier.title, footer: specifier.footer))
        if specifier.kind == .group { continue }
      default: break
      }
      var row = SettingsOutline.Row(
        specifier: specifier, title: specifier.title, choices: choices(of: specifier))
      if specifier.kind == .childPane { row.child = child(of: specifier, in: pane) }
      groups[groups.count - 1].rows.append(row)
    }
    if groups[0].rows.isEmpty { groups.removeFirst() }
    return SettingsOutline(title: title, file: pane.file, groups: groups)
  }

  private mutating func child(
    of specifier: SettingsSpecifier, in pane: SettingsPane
  ) -> SettingsOutline.Child {
    guard let index = pane.children[specifier.node.offset] else {
      return pane.missing.contains(specifier.node.offset) ? .missing : .refused
    }
    if shown.contains(index) { return .shownAbove(file: panes[index].file) }
    return .pane(outline(of: index, title: specifier.title))
  }

  private func choices(of specifier: SettingsSpecifier) -> [SettingsOutline.Choice] {
    let choices = zip(specifier.values ?? [], specifier.titles ?? []).map { value, title in
      SettingsOutline.Choice(
        title: title.string ?? "", value: value,
        isDefault: specifier.defaultValue?.isChoice(value) ?? false)
    }
    guard specifier.node["DisplaySortedByTitle"]?.boolean == true else { return choices }
    return choices.sorted {
      ByteText($0.title.lowercased()) < ByteText($1.title.lowercased())
    }
  }
}

extension SettingsSpecifier {
  /// `FooterText` of a group.
  package var footer: String? { node["FooterText"]?.string }

  /// The devices that show the row, as the schema names them; nil for all.
  package var idioms: [String]? {
    node["SupportedUserInterfaceIdioms"]?.array.map { $0.compactMap(\.string) }
  }

  func isShown(on idiom: SettingsBundle.Idiom) -> Bool {
    idioms?.contains(where: (idiom == .phone ? "Phone" : "Pad").isSameBytes) ?? true
  }

  /// Whether a toggle's default is its `TrueValue`; nil if it is neither `TrueValue` nor
  /// `FalseValue`.
  package var isOn: Bool? {
    guard let value = defaultValue else { return nil }
    let (on, off) = (switchValue(true), switchValue(false))
    return value.isChoice(on) ? true : value.isChoice(off) ? false : nil
  }
}

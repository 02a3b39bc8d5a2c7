// SPDX-License-Identifier: Apache-2.0
//
// Walks the panes depth first and collects seeds.
//
// Invariants:
// - each file, by its real path, is read at most once; a second row for it, and so every cycle,
//   adds nothing and is not a fault (a child that links back to its parent loses no seed);
// - `visited` maps each file read to its index in `panes`, -1 for a file that is not a pane;
// - `seeds` has every key once, compared by bytes; `places` maps keys to their index;
// - `open` is the path from the root to the current pane, with the next row of each.

import KeepsakeValues

struct BundleWalk {
  let folder: BundleFolder
  let mode: SettingsBundle.Mode
  let idiom: SettingsBundle.Idiom?
  let limits: SettingsBundle.Limits
  private(set) var seeds: [SettingsBundle.Seed] = []
  private(set) var warnings: [PropertyListError] = []
  private(set) var panes: [SettingsPane] = []
  private(set) var suite: String?
  private var places: [ByteText: Int] = [:]
  private var visited: [ByteText: Int] = [:]
  private var open: [(pane: Int, next: Int)] = []
  private var cost = BundleCost()

  init(
    folder: BundleFolder, mode: SettingsBundle.Mode, idiom: SettingsBundle.Idiom?,
    limits: SettingsBundle.Limits
  ) {
    (self.folder, self.mode, self.idiom, self.limits) = (folder, mode, idiom, limits)
  }

  /// - Parameter isBundle: whether the file must be a pane; otherwise it may be a flat table.
  mutating func run(from root: String, isBundle: Bool) throws(PropertyListError) {
    let pane = try readRoot(root, isBundle: isBundle)
    if !isBundle, let members = pane.root.members, pane.root["PreferenceSpecifiers"] == nil {
      try collect(members, in: pane)
      return
    }
    do throws(Fault) {
      try pane.checkShape()
    } catch {
      throw fatal(error, in: pane)
    }
    do throws(Fault) {
      suite = try pane.suite()
    } catch {
      try report(error, in: pane)
    }
    open.append((0, 0))
    while let (index, next) = open.last {
      let pane = panes[index]
      if next < pane.specifiers.count {
        open[open.count - 1].next += 1
        try visit(pane.specifiers[next], in: index)
      } else {
        open.removeLast()
      }
    }
  }

  /// Adds the members of a flat table.
  private mutating func collect(
    _ members: [PropertyListNode.Member], in pane: SettingsPane
  ) throws(PropertyListError) {
    for member in members {
      do throws(Fault) {
        guard !member.key.isEmpty else {
          throw Fault(
            .emptyKey, at: Int(member.keyOffset), "this key is empty", cure: "name the setting")
        }
        let value = try member.value.storedValue()
        try add(member.key, value, at: Int(member.value.offset), in: pane)
      } catch {
        try report(error, in: pane)
      }
    }
  }

  /// Reports a row that breaks the schema; its default still seeds if it is a scalar.
  private mutating func salvage(
    _ specifier: SettingsSpecifier, _ fault: Fault, in pane: SettingsPane
  ) throws(PropertyListError) {
    try report(fault, in: pane)
    // A row without a key stores nothing, so its other faults are irrelevant.
    if fault.code == .emptyKey { return }
    guard fault.code != .conflictingDefaults,
      let (key, value, offset) = specifier.unfitDefault
    else { return }
    do throws(Fault) {
      try add(key, value, at: offset, in: pane)
    } catch {
      try report(error, in: pane)
    }
  }

  private mutating func visit(
    _ specifier: SettingsSpecifier, in index: Int
  ) throws(PropertyListError) {
    let pane = panes[index]
    var child: (name: String, offset: Int)?
    do throws(Fault) {
      switch try specifier.action() {
      case .nothing: break
      case .seed(let key, let value, let offset): try add(key, value, at: offset, in: pane)
      case .open(let name, let offset): child = (name, offset)
      }
    } catch {
      return try salvage(specifier, error, in: pane)
    }
    do throws(Fault) {
      try specifier.checkTitle()
    } catch {
      try report(error, in: pane)
    }
    if let child {
      let row = specifier.node.offset
      panes[index].children[row] = try enter(child.name, at: child.offset, of: row, in: index)
    }
  }

  private mutating func add(
    _ key: String, _ value: StoredValue, at offset: Int, in pane: SettingsPane
  ) throws(Fault) {
    if let place = places[ByteText(key)] {
      let first = seeds[place]
      guard first.value != value else { return }
      throw Fault(
        .conflictingDefaults, at: offset,
        "the key \(key.quoted) has another default at \(first.place)",
        cure: "make the two equal, or rename one key")
    }
    places[ByteText(key)] = seeds.count
    let place = pane.place(of: offset)
    seeds.append(SettingsBundle.Seed(key: key, value: value, place: place))
  }
}

// MARK: - Panes

extension BundleWalk {
  private mutating func readRoot(
    _ file: String, isBundle: Bool
  ) throws(PropertyListError) -> SettingsPane {
    // A file that the caller named may be a link out of its folder; a bundle's Root.plist may not.
    guard isBundle else { return try read(file, real: nil) }
    let (file, location) = try locate(file)
    guard case .outside = location else { return try read(file, real: nil) }
    throw PropertyListError(
      .invalidPanePath, file: folder.shownPath(file),
      "this is a symbolic link to a file outside the bundle", cure: "replace it with that file")
  }

  /// - Returns: the index of the child in `panes`; nil if it cannot be read.
  private mutating func enter(
    _ name: String, at offset: Int, of row: UInt32, in index: Int
  ) throws(PropertyListError) -> Int? {
    let pane = panes[index]
    let stated: String
    do throws(Fault) {
      stated = try PanePath.file(name, at: offset)
    } catch {
      try report(error, in: pane)
      return nil
    }
    var file = stated
    do throws(PropertyListError) {
      let location: BundleFolder.Location
      (file, location) = try locate(stated)
      switch location {
      case .missing:
        warn(
          Fault(
            .missing, at: offset, "the pane \(file.quoted) does not exist",
            cure: "add it, or remove this row"), in: pane)
        panes[index].missing.insert(row)
      case .outside: try report(PanePath.leaving(name, at: offset), in: pane)
      case .inside(let real):
        if let place = visited[ByteText(real)] { return place < 0 ? nil : place }
        try checkLimits(at: offset, in: pane)
        return try add(file, real: real)
      }
    } catch {
      // A limit ends the reading in both modes.
      guard mode == .lenient, !error.code.isLimit else { throw error }
      warnings.append(error.named(file))
    }
    return nil
  }

  private mutating func add(_ file: String, real: String) throws(PropertyListError) -> Int {
    let child = try read(file, real: real)
    do throws(Fault) {
      try child.checkShape()
    } catch {
      try report(error, in: child)
    }
    open.append((panes.count - 1, 0))
    return panes.count - 1
  }

  /// The idiom's variant of the file if the bundle has one, otherwise the file itself.
  private func locate(
    _ file: String
  ) throws(PropertyListError) -> (file: String, BundleFolder.Location) {
    if let variant = idiom?.variant(of: file) {
      let location = try folder.locate(variant)
      guard case .missing = location else { return (variant, location) }
    }
    return (file, try folder.locate(file))
  }

  private mutating func read(
    _ file: String, real: String?
  ) throws(PropertyListError) -> SettingsPane {
    let limit = limits.file.effectiveBytes
    let (bytes, path) = try folder.read(file, real: real, limit: limit)
    visited[ByteText(path)] = -1
    let list = try PropertyList.parse(bytes, file: folder.shownPath(file), limits: limits.file)
    cost.add(list)
    let pane = SettingsPane(file: file, list: list)
    visited[ByteText(path)] = panes.count
    panes.append(pane)
    return pane
  }

  private func checkLimits(at offset: Int, in pane: SettingsPane) throws(PropertyListError) {
    do throws(Fault) {
      try cost.check(limits, depth: open.count, at: offset)
    } catch {
      throw fatal(error, in: pane)
    }
  }
}

// MARK: - Faults

extension BundleWalk {
  private mutating func report(
    _ fault: Fault, in pane: SettingsPane
  ) throws(PropertyListError) {
    guard mode == .lenient || fault.code == .emptyKey else {
      throw fatal(fault, in: pane)
    }
    warn(fault, in: pane)
  }

  private mutating func warn(_ fault: Fault, in pane: SettingsPane) {
    warnings.append(pane.error(fault))
  }

  private func fatal(_ fault: Fault, in pane: SettingsPane) -> PropertyListError {
    pane.error(fault).named(folder.shownPath(pane.file))
  }
}

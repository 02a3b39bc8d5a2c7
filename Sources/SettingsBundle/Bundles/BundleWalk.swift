// SPDX-License-Identifier: Apache-2.0
//
// Walks the panes depth first and collects seeds.
//
// Invariants:
// - each file, by its real path, is read at most once; another row that opens it, as in a cycle,
//   adds nothing and is not a fault (a child that links back to its parent loses no seed);
// - `visited` maps each file read to its index in `panes`, -1 for a file that is not a pane;
// - `seeds` has every key once, compared by bytes; `indices` maps keys to their indices in it;
// - `open` is the path from the root to the current pane, with the next row of each pane.

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
  private var indices: [ByteText: Int] = [:]
  private var visited: [ByteText: Int] = [:]
  private var open: [(pane: Int, next: Int)] = []
  private var size = BundleSize()

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
    suite = try reportingFault(in: pane) { _ throws(Fault) in try pane.suite() } ?? nil
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
      try reportingFault(in: pane) { walk throws(Fault) in
        guard !member.key.isEmpty else {
          throw Fault(
            .emptyKey, at: Int(member.keyOffset), "this key is empty", cure: "name the setting")
        }
        let value = try member.value.storedValue()
        let seed = SettingsSpecifier.Default(value, of: member.key, at: member.value.offset)
        try walk.add(seed, in: pane)
      }
    }
  }

  /// Reports a row that breaks the schema. Its default still becomes a seed if it is a scalar.
  private mutating func salvage(
    _ specifier: SettingsSpecifier, after fault: Fault, in pane: SettingsPane
  ) throws(PropertyListError) {
    try report(fault, in: pane)
    // A row without a key stores nothing, so its other faults are irrelevant.
    if fault.code == .emptyKey { return }
    guard fault.code != .conflictingDefaults, let unfit = specifier.unfitDefault else { return }
    try reportingFault(in: pane) { walk throws(Fault) in try walk.add(unfit, in: pane) }
  }

  private mutating func visit(
    _ specifier: SettingsSpecifier, in index: Int
  ) throws(PropertyListError) {
    let pane = panes[index]
    var child: (file: String, offset: Int)?
    do throws(Fault) {
      switch try specifier.action() {
      case .nothing: break
      case .seed(let seed): try add(seed, in: pane)
      case .open(let file, let offset): child = (file, offset)
      }
    } catch {
      return try salvage(specifier, after: error, in: pane)
    }
    try reportingFault(in: pane) { _ throws(Fault) in try specifier.checkTitle() }
    if let child {
      let row = specifier.node.offset
      panes[index].children[row] = try enter(child.file, at: child.offset, of: row, in: index)
    }
  }

  private mutating func add(
    _ seed: SettingsSpecifier.Default, in pane: SettingsPane
  ) throws(Fault) {
    let key = ByteText(seed.key)
    if let index = indices[key] {
      let first = seeds[index]
      guard first.value != seed.value else { return }
      throw Fault(
        .conflictingDefaults, at: seed.offset,
        "the key \(seed.key.quoted) has another default at \(first.place)",
        cure: "make the two equal, or rename one key")
    }
    indices[key] = seeds.count
    let place = pane.place(of: seed.offset)
    seeds.append(SettingsBundle.Seed(key: seed.key, value: seed.value, place: place))
  }

  // MARK: - Panes

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
    let path = try reportingFault(in: pane) { _ throws(Fault) in
      try PanePath.file(name, at: offset)
    }
    guard var file = path else { return nil }
    do throws(PropertyListError) {
      let location: BundleFolder.Location
      (file, location) = try locate(file)
      switch location {
      case .missing:
        let fault = Fault(
          .missing, at: offset, "the pane \(file.quoted) does not exist",
          cure: "add it, or remove this row")
        warnings.append(pane.error(fault))
        panes[index].missing.insert(row)
      case .outside: try report(PanePath.leaving(name, at: offset), in: pane)
      case .inside(let real):
        if let place = visited[ByteText(real)] { return place < 0 ? nil : place }
        try checkLimits(at: offset, in: pane)
        let child = try read(file, real: real)
        try reportingFault(in: child) { _ throws(Fault) in try child.checkShape() }
        open.append((panes.count - 1, 0))
        return panes.count - 1
      }
    } catch {
      // A limit ends the reading in both modes.
      guard mode == .lenient, !error.code.isLimit else { throw error }
      warnings.append(error.named(file))
    }
    return nil
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
    size.add(list)
    let pane = SettingsPane(file: file, list: list)
    visited[ByteText(path)] = panes.count
    panes.append(pane)
    return pane
  }

  private func checkLimits(at offset: Int, in pane: SettingsPane) throws(PropertyListError) {
    do throws(Fault) {
      try size.check(limits, depth: open.count, at: offset)
    } catch {
      throw fatal(error, in: pane)
    }
  }

  // MARK: - Faults

  /// - Returns: nil if there was a fault and reading goes on.
  @discardableResult
  private mutating func reportingFault<Result>(
    in pane: SettingsPane, _ body: (inout BundleWalk) throws(Fault) -> Result
  ) throws(PropertyListError) -> Result? {
    do throws(Fault) {
      return try body(&self)
    } catch {
      try report(error, in: pane)
      return nil
    }
  }

  private mutating func report(
    _ fault: Fault, in pane: SettingsPane
  ) throws(PropertyListError) {
    guard mode == .lenient || fault.code == .emptyKey else { throw fatal(fault, in: pane) }
    warnings.append(pane.error(fault))
  }

  private func fatal(_ fault: Fault, in pane: SettingsPane) -> PropertyListError {
    pane.error(fault).named(folder.shownPath(pane.file))
  }
}

// SPDX-License-Identifier: Apache-2.0

/// Explains why a pane's file is missing. Lists each folder once, not once for each missing file.
struct MissingPanes {
  private let folder: BundleFolder
  /// For each folder its names, by their lowercase spelling.
  private var names: [String: [String: [String]]] = [:]

  init(_ folder: BundleFolder) { self.folder = folder }

  mutating func fault(_ file: String, at offset: Int) -> Fault {
    let alike = names(like: file)
    if alike.contains(where: { file.isSame($0.path) }) {
      return Fault(
        .missing, at: offset, "the pane \(file.quoted) is a broken symbolic link",
        cure: "fix the link, or remove this row")
    }
    let cure =
      switch alike.first {
      case nil: "add it, or remove this row"
      case let other? where other.path == file:
        "a file has this name in another Unicode normalisation form; rename it"
      case let other?: "\(other.name.quoted) differs only in case; write that name"
      }
    return Fault(.missing, at: offset, "the pane \(file.quoted) does not exist", cure: cure)
  }

  /// Files whose names differ only in case or Unicode form: a Mac's default file system finds them,
  /// a phone's does not.
  private mutating func names(like file: String) -> [(name: String, path: String)] {
    // The dictionary compares by canonical equivalence; the limits bound its cost.
    guard file.utf8.count <= 4096, let name = file.split(separator: "/").last,
      name.utf8.count <= 1024
    else { return [] }
    let parent = String(file.dropLast(name.count))
    if names[parent] == nil {
      names[parent] = Dictionary(grouping: folder.names(in: parent)) { $0.lowercased() }
    }
    return names[parent]?[name.lowercased()]?.map { ($0, parent + $0) } ?? []
  }
}

extension Fault {
  /// The error of reading a pane as a fault of the row that names it; nil for a fault within the
  /// pane and for a limit.
  init?(unreadable error: PropertyListError, _ file: String, at offset: Int) {
    let name = file.quoted
    switch error.code {
    case .notAFile:
      self.init(
        error.code, at: offset, "the pane \(name) is not a regular file",
        cure: "put a property list in its place, or remove this row")
    case .permissionDenied:
      self.init(
        error.code, at: offset, "permission to read the pane \(name) is denied",
        cure: "change its permissions")
    case .unreadable:
      self.init(
        error.code, at: offset, "the pane \(name) cannot be read", cure: "check the disk")
    default: return nil
    }
  }
}

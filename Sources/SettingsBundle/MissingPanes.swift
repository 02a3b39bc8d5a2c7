// SPDX-License-Identifier: Apache-2.0

/// Says why a file that a row names is not there. Each folder is listed once, however many rows
/// name files that it does not have.
struct MissingPanes {
  private let folder: BundleFolder
  /// The names in a folder, by their spelling without case.
  private var names: [String: [String: [String]]] = [:]

  init(_ folder: BundleFolder) { self.folder = folder }

  mutating func fault(_ file: String, at offset: Int) -> Fault {
    let alike = names(like: file)
    if alike.contains(where: { file.isSame($0.path) }) {
      return Fault(
        .missing, at: offset, "the pane \(file.quoted) is a link that leads nowhere",
        cure: "mend the link, or remove this row")
    }
    let cure =
      switch alike.first {
      case nil: "add it, or remove this row"
      case let other? where other.path == file:
        "the file's name has the same letters in other bytes, another Unicode form; rename it"
      case let other?: "names differ in case from \(other.name.quoted); write that one"
      }
    return Fault(.missing, at: offset, "the pane \(file.quoted) does not exist", cure: cure)
  }

  /// Found by the default file system of a Mac, but not by a phone.
  private mutating func names(like file: String) -> [(name: String, path: String)] {
    // `String` finds canonically equal names; that no name is longer bounds what it costs.
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
  /// What keeps a row from its pane; nil for what is wrong in the pane, and for limits.
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

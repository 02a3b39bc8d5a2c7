// SPDX-License-Identifier: Apache-2.0
//
// A file URL is stored as its path, with `~` for the home folder as `UserDefaults` does it, so that
// it survives a move of the home folder
// (https://developer.apple.com/documentation/foundation/userdefaults/url(forkey:));
// every other URL as its text.
//
// Invariant: what `toBackingStore()` stores, `fromBackingStore(_:)` reads as the same URL.

extension URL: BackingStoreConvertible {
  /// Reads text with a scheme as that URL, text that starts with `/` or `~` as the path of a file,
  /// other text as a relative URL.
  ///
  /// A path that ends with `/` is a folder's; this does not access the disk.
  public static func fromBackingStore(_ value: StoredValue) throws -> URL {
    guard let url = URL(stored: try String.fromBackingStore(value)) else {
      throw ValueError(.invalid, "the stored string is not a URL; set it again")
    }
    return url
  }

  /// The path of a file, with `~` for the home folder; for another URL its absolute form.
  ///
  /// - Throws: `ValueError` for a relative URL that would be read as a path.
  public func toBackingStore() throws -> StoredValue {
    // A path may lose parts of a file URL: a host, a query, or bytes that are not UTF-8.
    let spellings = isFileURL ? [pathOrHomePath, absoluteString] : [absoluteString]
    let faithful = spellings.first { URL(stored: $0)?.absoluteString == absoluteString }
    guard let faithful else {
      throw ValueError(.invalid, "this relative URL would be read as a path; make it absolute")
    }
    return .string(faithful)
  }

  private init?(stored text: String) {
    if let url = URL(withScheme: text) {
      self = url
    } else if text.hasPrefix("/") || text.hasPrefix("~") {
      self.init(pathOrHomePath: text)
    } else {
      self.init(string: text)
    }
  }

  /// The URL of text with a scheme; nil for other text.
  package init?(withScheme text: String) {
    guard let url = URL(string: text), url.scheme != nil else { return nil }
    self = url
  }

  /// The URL of the file at a path, which may start with `~`; nil for an empty text.
  package init?(pathOrHomePath text: String) {
    guard !text.isEmpty else { return nil }
    let isAtHome = text.utf8.elementsEqual("~".utf8) || text.utf8.starts(with: "~/".utf8)
    self.init(
      filePath: isAtHome ? Self.home + text.dropFirst() : text, directoryHint: .inferFromPath)
  }

  private var pathOrHomePath: String {
    let path = absoluteURL.path(percentEncoded: false)
    let (home, bytes) = (Self.home.utf8, path.utf8)
    // Without a home folder, or with the root as home, keep the whole path.
    guard !home.isEmpty, bytes.starts(with: home) else { return path }
    let rest = String(Substring(bytes.dropFirst(home.count)))
    return rest.isEmpty || rest.utf8.first == UInt8(ascii: "/") ? "~" + rest : path
  }

  /// The home folder's path without a trailing slash.
  private static var home: String {
    let path = URL.homeDirectory.path(percentEncoded: false)
    return path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

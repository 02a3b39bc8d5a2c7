// SPDX-License-Identifier: Apache-2.0

extension SettingsBundle {
  /// The treatment of a specifier that breaks the schema.
  public enum Mode: Sendable, CaseIterable {
    /// Reading throws the first fault.
    case strict
    /// Reading turns the first fault of each row into a warning. A scalar default seeds as written
    /// even if it does not fit its row, any other faulty row seeds nothing, and the first of two
    /// different defaults of a key applies. A child pane that is malformed or unreadable is a
    /// warning too. Exceeding a limit, and any fault of `Root.plist` itself, still throws.
    case lenient
  }

  /// A kind of device. A bundle may have variants of a file for each: a tablet reads
  /// `Root~ipad.plist` in place of `Root.plist`.
  public enum Idiom: String, Sendable, CaseIterable {
    case phone, pad
  }

  /// Limits on the size of a bundle. The whole bundle is in memory while it is read.
  public struct Limits: Sendable, Hashable {
    /// The limits of each file.
    public var file = PropertyListLimits()
    /// The bytes of all files: once reached, reading another pane throws.
    public var bytes = 64 << 20
    /// The elements of all files: once reached, reading another pane throws.
    public var elements = 1_000_000
    /// The number of files, including `Root.plist`.
    public var panes = 20_000
    /// The nesting depth of panes, including `Root.plist`; larger values than 256 count as that.
    public var paneDepth = 16

    /// The limits above.
    public init() {}

    var effectiveDepth: Int { min(paneDepth, 256) }
  }
}

extension SettingsBundle.Idiom {
  /// This idiom's variant of `file`, a name that ends with `.plist`.
  func variant(of file: String) -> String {
    "\(file.dropLast(6))~\(suffix).plist"
  }

  /// The suffix in file names.
  package var suffix: String { self == .phone ? "iphone" : "ipad" }
}

/// The total size of the panes that were read.
struct BundleSize {
  private var panes = 0
  private var bytes = 0
  private var elements = 0

  mutating func add(_ list: PropertyList) {
    panes += 1
    bytes += list.bytes
    elements += list.elements
  }

  /// Checks that another pane may be read.
  ///
  /// - Parameter offset: the row that names the pane.
  func check(_ limits: SettingsBundle.Limits, depth: Int, at offset: Int) throws(Fault) {
    let code: PropertyListError.Code
    let what: String
    if panes >= limits.panes {
      (code, what) = (.tooManyPanes, "the bundle has more than \(limits.panes) panes")
    } else if depth >= limits.effectiveDepth {
      (code, what) = (.panesTooDeep, "panes nest deeper than \(limits.effectiveDepth)")
    } else if bytes >= limits.bytes {
      code = .fileTooLarge
      what = "the panes read before have \(bytes) bytes, the limit for all is \(limits.bytes)"
    } else if elements >= limits.elements {
      code = .tooManyElements
      what =
        "the panes read before have \(elements) elements, the limit for all is \(limits.elements)"
    } else {
      return
    }
    throw Fault(code, at: offset, what, cure: "remove some, or raise the limit")
  }
}

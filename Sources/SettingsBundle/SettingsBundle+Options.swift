// SPDX-License-Identifier: Apache-2.0

extension SettingsBundle {
  /// What happens to a specifier that breaks the schema.
  public enum Mode: Sendable, CaseIterable {
    /// The first one is thrown.
    case strict
    /// Each one is a warning. A default that is a scalar seeds as it is written, also where it does
    /// not fit its row; anything else seeds nothing, and of two different defaults of a key the
    /// first counts. A warning is also a child pane that is no well-formed property list, or that
    /// the system does not let us read. What is beyond a limit is still an error, and so is every
    /// trouble with `Root.plist`.
    case lenient
  }

  /// A kind of device. A bundle may have files of its own for each: `Root~ipad.plist` stands for
  /// `Root.plist` on a tablet.
  public enum Idiom: String, Sendable, CaseIterable {
    case phone, pad
  }
}

extension SettingsBundle {
  /// What reading a bundle may cost. The whole bundle is in memory while it is read.
  public struct Limits: Sendable, Hashable {
    /// For each file.
    public var file = PropertyListLimits()
    /// The bytes of all files: no pane is read when those before it have so many.
    public var bytes = 64 << 20
    /// The elements of all files, in the same way.
    public var elements = 1_000_000
    /// How many files, `Root.plist` included.
    public var panes = 20_000
    /// How many panes deep, `Root.plist` included; at most 256, whatever is set.
    public var paneDepth = 16

    public init() {}

    var effectiveDepth: Int { min(paneDepth, 256) }
  }
}

extension SettingsBundle {
  /// How to read a bundle.
  package struct Options {
    package let mode: Mode
    package let idiom: Idiom?
    package let limits: Limits
    /// Whether a specifier has all its faults reported, not only the first.
    package let findsAll: Bool

    package init(
      mode: Mode = .strict, idiom: Idiom? = nil, limits: Limits = Limits(), findsAll: Bool = false
    ) {
      self.mode = mode
      self.idiom = idiom
      self.limits = limits
      self.findsAll = findsAll
    }
  }
}

extension SettingsBundle.Idiom {
  /// The file that stands for `file`, a name that ends with `.plist`.
  func variant(of file: String) -> String {
    "\(file.dropLast(6))~\(suffix).plist"
  }

  /// How file names call it.
  package var suffix: String { self == .phone ? "iphone" : "ipad" }
}

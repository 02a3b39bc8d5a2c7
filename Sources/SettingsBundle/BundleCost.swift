// SPDX-License-Identifier: Apache-2.0

/// The totals over the panes read so far.
struct BundleCost {
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
    func check(
      _ isWithin: Bool, _ code: PropertyListError.Code, _ what: String, _ cure: String
    ) throws(Fault) {
      if !isWithin { throw Fault(code, at: offset, what, cure: "\(cure), or raise the limit") }
    }
    try check(
      panes < limits.panes, .tooManyPanes, "the bundle has more than \(limits.panes) panes",
      "merge some")
    try check(
      depth < limits.effectiveDepth, .panesTooDeep,
      "panes nest deeper than \(limits.effectiveDepth)", "flatten them")
    try check(
      bytes < limits.bytes, .fileTooLarge,
      "the panes read before have \(bytes) bytes, the limit for all is \(limits.bytes)",
      "remove some")
    try check(
      elements < limits.elements, .tooManyElements,
      "the panes read before have \(elements) elements, the limit for all is \(limits.elements)",
      "remove some")
  }
}

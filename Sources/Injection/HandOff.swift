// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// Hands values from one object to another, as from one screen to the next.
  ///
  /// Each `@Injected` property of `target` gets the value of the stored property of `source` with
  /// the same name, if that begins with `prefix` and has a value.
  /// - Throws: `InjectionError` with `mismatch` and every property, as `candidates`, that has
  ///   another type; then nothing was handed over.
  public static func handOff(from source: Any, to target: Any, prefix: String = "") throws {
    let given = properties(of: source).filter { $0.name.hasPrefix(prefix) }
    var assignments: [() -> Void] = [], mismatches: [String] = []
    for case let (name, property as any Fillable) in properties(of: target) {
      guard let other = given.first(where: { $0.name == name })?.value,
        let content = (other as? any Fillable).map(\.content) ?? other
      else { continue }
      if let assignment = property.assigning(content) {
        assignments.append(assignment)
      } else {
        mismatches.append("\(name): \(type(of: content)) to \(type(of: property).type)")
      }
    }
    guard mismatches.isEmpty else {
      throw InjectionError(
        code: .mismatch, path: ["\(type(of: target))"], candidates: mismatches,
        cure: "Give both properties one type, or rename one of them.")
    }
    assignments.forEach { $0() }
  }
}

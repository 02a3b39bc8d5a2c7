// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// Copies values from one object to another, such as from one screen to the next.
  ///
  /// Each `@Injected` property of `target` gets the value of the stored property of `source` with
  /// the same name, if the name begins with `prefix` and the property has a value. Nil is copied
  /// only between equal types. Call this on the actor on which the objects conform to `Injectable`.
  ///
  /// - Throws: `InjectionError` with `mismatch` and, in `candidates`, every property whose type
  ///   differs; with `hidden` if reflection does not show the properties or their names. Then
  ///   nothing is copied.
  public static func handOff(
    from source: some Injectable, to target: some Injectable, prefix: String = ""
  ) throws {
    let given = try properties(of: source, mustBeNamed: true).filter { $0.name.hasPrefix(prefix) }
    var assignments: [() -> Void] = [], mismatches: [String] = []
    let received = try properties(of: target, mustBeNamed: true)
    for case let (name, property as any AnyInjected) in received {
      guard let other = given.first(where: { $0.name == name })?.value,
        let content = (other as? any AnyInjected).map(\.content) ?? other
      else { continue }
      let (theirs, ours) = (type(of: content), type(of: property).type)
      let isNil = (content as? any AnyOptional)?.isNil ?? false
      if isNil, !(ours is any AnyOptional.Type) { continue }
      if let assignment = property.assigning(content), !isNil || theirs == ours {
        assignments.append(assignment)
      } else {
        mismatches.append("\(name): \(theirs) to \(ours)")
      }
    }
    guard mismatches.isEmpty else {
      throw InjectionError(
        .mismatch, path: ["\(type(of: target))"], candidates: mismatches)
    }
    assignments.forEach { $0() }
  }
}

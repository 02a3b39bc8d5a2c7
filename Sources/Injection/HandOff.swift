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
    let given = try namedProperties(of: source).filter { $0.name.hasPrefix(prefix) }
    var assignments: [() -> Void] = [], mismatches: [String] = []
    for case let (name, property as any Fillable) in try namedProperties(of: target) {
      guard let other = given.first(where: { $0.name == name })?.value,
        let content = (other as? any Fillable).map(\.content) ?? other
      else { continue }
      let (theirs, ours) = (type(of: content), type(of: property).type)
      let isNil = (content as? any Nillable)?.isNil ?? false
      if isNil, !(ours is any Nillable.Type) { continue }
      if let assignment = property.assigning(content), !isNil || theirs == ours {
        assignments.append(assignment)
      } else {
        mismatches.append("\(name): \(theirs) to \(ours)")
      }
    }
    guard mismatches.isEmpty else {
      throw InjectionError(
        code: .mismatch, path: ["\(type(of: target))"], candidates: mismatches,
        cure: "Give both properties one type, or rename one of them.")
    }
    assignments.forEach { $0() }
  }

  private static func namedProperties(
    of object: any Injectable
  ) throws(InjectionError) -> [(name: String, value: Any)] {
    let properties = try properties(of: object)
    if properties.contains(where: \.name.isEmpty) {
      throw .hidden(
        object, "Compile \(type(of: object)) with their names: without -disable-reflection-names.")
    }
    return properties
  }
}

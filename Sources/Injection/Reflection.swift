// SPDX-License-Identifier: Apache-2.0

// A class that was compiled without reflection metadata has a mirror without children, as if it had
// no stored properties. The size of its instances shows that it has some.

extension Mirror {
  /// Whether the class has stored properties of its own that this mirror cannot show, because the
  /// class was compiled without reflection metadata.
  package var lacksMetadata: Bool {
    guard children.isEmpty, let level = subjectType as? AnyClass,
      Mirror.isClient(String(reflecting: level))
    else { return false }
    let parent: AnyClass = superclassMirror?.subjectType as? AnyClass ?? Empty.self
    return instanceExtents(level).positive > instanceExtents(parent).positive
  }

  /// How to compile a class so that reflection shows its properties.
  package static let compilation =
    "with reflection metadata: without -disable-reflection-metadata, in Xcode with"
    + " SWIFT_REFLECTION_METADATA_LEVEL = all"

  /// Whether a class with this full name may use this package. Classes of Objective-C and of the
  /// system do not, and reflection may not show their properties.
  package static func isClient(_ name: String) -> Bool {
    let module = name.prefix { $0 != "." }
    return module != name && !systemModules.contains(String(module))
  }

  /// The system modules with classes that can be subclassed.
  private static let systemModules: Set = [
    "__C", "Combine", "Foundation", "FoundationEssentials", "RealityFoundation", "RealityKit",
    "Swift", "SwiftUI", "SwiftUICore",
  ]
}

private final class Empty {}

// No public function returns the size of an instance on every platform. The standard library
// declares these in the same way, `@usableFromInline` for its `ManagedBuffer`: programs call them
// already, and Apple's binary interface keeps them. If a toolchain lacks them, linking fails.
#if canImport(ObjectiveC)
  @_silgen_name("_swift_getObjCClassInstanceExtents")
  private func instanceExtents(_ type: AnyClass) -> (negative: UInt, positive: UInt)
#else
  @_silgen_name("_swift_getSwiftClassInstanceExtents")
  private func instanceExtents(_ type: AnyClass) -> (negative: UInt, positive: UInt)
#endif

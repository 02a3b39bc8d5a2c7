// SPDX-License-Identifier: Apache-2.0

/// What the benchmarks, a package of their own, measure of what is not public.
@_spi(Benchmarks) public struct PropertyListBenchmark: Sendable {
  private let list: PropertyList

  /// Parses to a full tree whose nodes and lines have their places, without limits of size.
  public init(parsing bytes: [UInt8]) throws(PropertyListError) {
    var limits = PropertyListLimits()
    limits.bytes = .max
    limits.elements = .max
    limits.textBytes = .max
    list = try PropertyList.parse(bytes, file: "benchmark.plist", limits: limits)
    _ = list.sourceMap()
  }

  /// The text of the tree.
  public func written() throws -> [UInt8] {
    try PropertyList.write(list.root.value)
  }
}

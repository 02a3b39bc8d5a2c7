// SPDX-License-Identifier: Apache-2.0

/// The parser, for the benchmarks, which are a package of their own and see only public symbols.
@_spi(Benchmarks) public struct PropertyListBenchmark: Sendable {
  /// Parses to a full tree whose nodes and lines have their places, without limits of size.
  public init(parsing bytes: [UInt8]) throws(PropertyListError) {
    var limits = PropertyListLimits()
    limits.bytes = .max
    limits.elements = .max
    limits.textBytes = .max
    let list = try PropertyList.parse(bytes, file: "benchmark.plist", limits: limits)
    _ = list.sourceMap()
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Public Settings bundles, where a folder of them is at hand: `KEEPSAKE_SETTINGS_BUNDLES`. They are
// not ours and not part of the package.

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import Testing

enum RealBundles {
  static let folder = ProcessInfo.processInfo.environment["KEEPSAKE_SETTINGS_BUNDLES"]
}

@Suite(
  .enabled(
    if: RealBundles.folder != nil,
    "no real Settings bundles at hand, nothing is replayed; set KEEPSAKE_SETTINGS_BUNDLES")
)
struct RealBundleTests {
  private func bundles() throws -> [String] {
    let folder = try #require(RealBundles.folder)
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      .map { "\(folder)/\($0)" }
      .filter { FileManager.default.fileExists(atPath: "\($0)/Root.plist") }
  }

  @Test func everyRealBundleSeedsLeniently() throws {
    var (seeds, warnings, panes) = (0, 0, 0)
    for path in try bundles() {
      let bundle = try SettingsBundle(at: path, mode: .lenient)
      #expect(bundle.seeds.allSatisfy { $0.place.contains(".plist:") && !$0.key.isEmpty })
      seeds += bundle.seeds.count
      warnings += bundle.warnings.count
      panes += bundle.paneCount
    }
    print("note: real bundles: \(panes) panes, \(seeds) seeds, \(warnings) warnings")
    #expect(seeds > 0)
  }

  @Test func everyFileIsReadAsFoundationReadsIt() throws {
    var count = 0
    for path in try bundles() {
      for file in FileManager.default.enumerator(atPath: path)?.allObjects ?? [] {
        guard let name = file as? String, name.hasSuffix(".plist") else { continue }
        count += 1
        let data = try Data(contentsOf: URL(fileURLWithPath: path).appendingPathComponent(name))
        let ours = try PropertyList.parse(Array(data), file: name).root
        let theirs = try PropertyListSerialization.propertyList(from: data, format: nil)
        #expect(ours.members?.count == (theirs as? [String: Any])?.count)
      }
    }
    #expect(count > 0)
  }
}

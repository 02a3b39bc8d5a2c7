// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct ArchitectureTests {
  private static let page = "Sources/Keepsake/Keepsake.docc/Architecture.md"

  @Test func everyFunctionOfTheArchitectureIsThere() throws {
    var count = 0
    for line in try Project.text(Self.page).split(separator: "\n") {
      guard let row = line.wholeMatch(of: /\| `(\S+)` \| `(\w+)` \| .*/) else { continue }
      let text = try Project.text("Sources/\(row.1)")
      let declaration = try Regex("\\b(?:func|var) \(row.2)\\b")
      #expect(text.contains(declaration), "\(line)")
      count += 1
    }
    #expect(count > 30)
  }

  @Test func everyFileOfTheArchitectureIsThere() throws {
    for match in try Project.text(Self.page).matches(of: /`(\S+\.swift)`/) {
      #expect(throws: Never.self) { try Project.text("Sources/\(match.1)") }
    }
  }

  @Test func theMapNamesEveryModule() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Project.root.appendingPathComponent("Sources").path)
    let map = try Project.text("Sources/README.md")
    for folder in folders where !folder.hasSuffix(".md") {
      #expect(map.contains("`\(folder)`"), "\(folder)")
    }
  }
}

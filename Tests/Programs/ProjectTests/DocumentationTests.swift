// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct DocumentationTests {
  /// What a protocol documents already.
  private static let witnesses: Set = [
    "description", "==", "<", "hash", "startIndex", "endIndex", "makeAsyncIterator",
    "next", "fromBackingStore", "toBackingStore", "wrapped",
  ]

  @Test func everyPublicDeclarationHasASummary() throws {
    let declaration = #/
      ^\ * (?:@\w+\ )? public\ (?:[a-z]+(?:\(set\))?\ )*?
      (?:func|var|let|init|subscript|struct|class|enum|protocol|actor|typealias)\ ?([\w=<]*)
      /#
    for file in try Project.files(in: ["Sources"], ".swift") {
      guard !file.hasPrefix("Sources/kvsync/") else { continue }
      let lines = try Project.text(file).split(separator: "\n", omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() {
        guard let match = line.firstMatch(of: declaration), !line.contains("Literal "),
          !Self.witnesses.contains(String(match.1)), !line.contains(#"fatalError("unavailable")"#)
        else { continue }
        let above = lines[..<number].last { !$0.contains(/^ *(?:[@#]|\/\/(?!\/))/) } ?? ""
        // What is declared unavailable has its message in place of documentation.
        guard !above.contains(/^ *\)$/) else { continue }
        #expect(above.contains(/^ *\/\/\//), "\(file):\(number + 1): \(line)")
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// How many files have to be read together.
@Suite struct RingTests {
  /// A file refers to another one if it names a type that is declared there and nowhere else.
  @Test func noMoreThanThreeFilesOfAModuleReferToEachOtherInARing() throws {
    let files = try Project.files(in: ["Sources"], ".swift")
    var words: [String: Set<Substring>] = [:]
    var owners: [Substring: Set<String>] = [:]
    let type = try Regex(
      "^ *(?:@\\S+ )*(?:[a-z]+ )*(?:class|struct|enum|protocol|actor|typealias) ([A-Z]\\w*)",
      as: (Substring, Substring).self)
    for file in files {
      let code = try Self.code(file)
      words[file] = Set(code.matches(of: /\b[A-Z]\w*\b/).map(\.output))
      for line in code.split(separator: "\n") {
        guard let match = line.firstMatch(of: type), !line.contains("private ") else { continue }
        owners[match.output.1, default: []].insert(file)
      }
    }
    let modules = Dictionary(grouping: files) { $0.split(separator: "/")[1] }
    #expect(modules.count >= 20)
    for members in modules.values {
      var uses: [String: Set<String>] = [:]
      for file in members {
        let used = words[file, default: []].compactMap { owners[$0] }.filter { $0.count == 1 }
        uses[file] = used.reduce(Set()) { $0.union($1) }.intersection(members)
      }
      let reached = uses.keys.reduce(into: [:]) { $0[$1] = Self.reached(from: $1, uses) }
      for (file, others) in reached {
        let ring = others.filter { reached[$0]?.contains(file) ?? false }
        #expect(ring.count <= 3, "\(ring.sorted())")
      }
    }
  }

  private static func reached(
    from file: String, _ uses: [String: Set<String>]
  ) -> Set<String> {
    var (found, next) = (Set<String>(), [file])
    while let file = next.popLast() {
      for other in uses[file, default: []] where found.insert(other).inserted {
        next.append(other)
      }
    }
    return found
  }

  /// Without comments and texts.
  private static func code(_ file: String) throws -> String {
    try Project.text(file)
      .replacing(/"""(?:.|\n)*?"""/, with: "")
      .replacing(/\/\/.*/, with: "")
      .replacing(/"(?:[^"\\\n]|\\.)*"/, with: "")
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct ArticleTests {
  /// Each module's article, and the file that has its snippets.
  private static let articles = [
    "Sources/Injection/KeepsakeInjection.docc/KeepsakeInjection.md":
      "Tests/InjectionProbe/Article.swift",
    "Sources/Testing/KeepsakeTesting.docc/KeepsakeTesting.md": "Tests/TestingTests/Article.swift",
  ]

  @Test(arguments: articles)
  func everySnippetOfAnArticleIsCompiled(article: String, source: String) throws {
    let snippets = try Project.text(article).components(separatedBy: "```swift\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
    #expect(snippets.count > 5)
    let compiled = Self.unindented(try Project.text(source))
    for snippet in snippets {
      #expect(compiled.contains(Self.unindented(snippet)), "\(snippet)")
    }
  }

  @Test func everyArticleIsCompared() throws {
    #expect(try Project.files(in: ["Sources"], ".md") == Self.articles.keys.sorted())
  }

  private static func unindented(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .joined(separator: "\n")
  }
}

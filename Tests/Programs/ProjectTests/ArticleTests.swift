// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct ArticleTests {
  /// Each article, the files that have its snippets, and how many there are at least.
  private static let articles: [(article: String, sources: [String], minimum: Int)] =
    [
      (
        "Sources/Injection/KeepsakeInjection.docc/KeepsakeInjection.md",
        ["Tests/Modules/InjectionTests/InjectionArticle.swift"], 6
      ),
      (
        "Sources/Testing/KeepsakeTesting.docc/KeepsakeTesting.md",
        ["Tests/Modules/TestingTests/Article.swift"], 6
      ),
      (
        "Sources/Keepsake/Keepsake.docc/Servers.md",
        [
          "Tests/Modules/ConfigurationTests/ConfigurationArticle.swift",
          "Tests/Modules/ServerTests/ServersArticle.swift",
        ], 6
      ),
      (
        "Sources/Hub/KeepsakeHub.docc/KeepsakeHub.md",
        ["Tests/Modules/HubClientTests/Article.swift"], 2
      ),
    ]
    + [
      ("Architecture", nil, 0), ("CloudStores", "CloudStores", 8), ("ComingFrom", "ComingFrom", 3),
      ("Commands", nil, 0), ("GettingStarted", "GettingStarted", 14),
      ("GuaranteesAndLimits", "Guarantees", 5), ("HomeHub", nil, 0),
      ("HowSyncWorks", "HowSyncWorks", 4), ("HubProtocol", nil, 0),
      ("Keepsake", "GettingStarted", 1), ("Layers", "Layers", 4), ("Observing", "Observing", 11),
      ("PostgresHub", nil, 0), ("ProcessesAndDurability", "Durability", 8),
      ("SyncRecipes", "SyncRecipes", 3), ("Transformers", "Transformers", 7),
      ("TypedSettings", "TypedSettings", 11),
    ].map { (article: String, source: String?, minimum: Int) in
      (
        "Sources/Keepsake/Keepsake.docc/\(article).md",
        source.map { ["Tests/Modules/KeepsakeTests/Articles/\($0)Article.swift"] } ?? [], minimum
      )
    }

  @Test(arguments: articles)
  func everySnippetOfAnArticleIsCompiled(
    article: String, sources: [String], minimum: Int
  ) throws {
    let blocks = try Project.text(article).components(separatedBy: "```").enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    let compiled = Project.unindented(try sources.map(Project.text).joined(separator: "\n"))
    // Terminal sessions are played with those of the README; what a hub needs, by
    // `Scripts/hub-conformance`.
    let others = ["console\n", "json\n", "sh\n", "text\n", "nginx\n", "ini\n", "sql\n"]
    for block in blocks where !others.contains(where: block.hasPrefix) {
      // After the language; what a program prints has none.
      let snippet = String(block.drop { $0 != "\n" })
      #expect(compiled.contains(Project.unindented(snippet)), "\(block)")
    }
    #expect(blocks.count { $0.hasPrefix("swift\n") } >= minimum)
  }

  @Test func everyArticleIsComparedAndShort() throws {
    // What only sorts a symbol's members has nothing to compare, and the tutorial has its own test.
    let articles = try Project.files(in: ["Sources"], ".md")
      .filter { $0.contains(".docc/") && !$0.contains("/Symbols/") }
      .filter { !$0.hasSuffix("/Tutorial.md") }
    #expect(articles == Self.articles.map(\.article).sorted())
    for article in articles where article.hasPrefix("Sources/Keepsake/") {
      // A specification is looked up, and so are an operator's manual and tables of guarantees.
      let isLookedUp = ["/HubProtocol.md", "/HomeHub.md", "/HowSyncWorks.md"]
        .contains { article.hasSuffix($0) }
      let limit = isLookedUp ? 200 : 150
      #expect(try Project.text(article).split(separator: "\n").count <= limit, "\(article)")
    }
  }

  /// The landing page sorts the articles, and each begins with its readers.
  @Test func articlesAreFewAndBeginWithTheirReaders() throws {
    let catalog = "Sources/Keepsake/Keepsake.docc/"
    let articles = try Project.files(in: [catalog], ".md")
      .filter { !$0.contains("/Symbols/") && !$0.hasSuffix("/Keepsake.md") }
    #expect(articles.count <= 18)
    for article in articles {
      let paragraphs = try Project.text(article).components(separatedBy: "\n\n")
      #expect(paragraphs[1].hasPrefix("For "), "\(article)")
    }
  }

  @Test func everyPictureIsThereAndSaidInWords() throws {
    let catalog = "Sources/Keepsake/Keepsake.docc"
    let pictures = try Project.files(in: [catalog], ".md").flatMap { article in
      try Project.text(article).matches(of: /!\[([^\]]+)\]\(([^)]+)\)/).map { String($0.2) }
    }
    let files = try [".png", ".svg"].flatMap { try Project.files(in: [catalog], $0) }.sorted()
    #expect(files.map { $0.dropFirst("\(catalog)/".count) } == pictures.sorted().map { $0[...] })
  }

  @Test func everyTestThatAPromiseNamesIsThere() throws {
    let tests = try Project.files(in: ["Tests"], ".swift").map { try Project.text($0) }
    let promises = try Project.text("Sources/Keepsake/Keepsake.docc/HowSyncWorks.md")
    let names = promises.matches(of: /`(\w+Tests)(?:\.(\w+))?`/)
    #expect(names.count >= 40)
    for name in names {
      let isThere = tests.contains { text in
        (text.contains("struct \(name.1) ") || text.contains("struct \(name.1): "))
          && name.2.map { text.contains("func \($0)(") } ?? true
      }
      #expect(isThere, "\(name.0)")
    }
  }
}

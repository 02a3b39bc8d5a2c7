// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct ArticleTests {
  /// Each article, the file that has its snippets, and how many there are at least.
  private static let articles: [(article: String, source: String, minimum: Int)] =
    [
      (
        "Sources/Injection/KeepsakeInjection.docc/KeepsakeInjection.md",
        "Tests/Modules/InjectionTests/InjectionArticle.swift", 6
      ),
      (
        "Sources/Testing/KeepsakeTesting.docc/KeepsakeTesting.md",
        "Tests/Modules/TestingTests/Article.swift", 6
      ),
      (
        "Sources/Keepsake/Keepsake.docc/Configuration.md",
        "Tests/Modules/ConfigurationTests/ConfigurationArticle.swift", 3
      ),
      (
        "Sources/Keepsake/Keepsake.docc/Services.md",
        "Tests/Modules/ServicesTests/ServicesArticle.swift", 3
      ),
      (
        "Sources/Hub/KeepsakeHub.docc/KeepsakeHub.md",
        "Tests/Modules/HubClientTests/Article.swift", 2
      ),
    ]
    + [
      ("Architecture", "HowSyncWorks", 0), ("CloudStores", "CloudStores", 5),
      ("ComingFrom", "ComingFrom", 2), ("Commands", "Tour", 1),
      ("Conflicts", "Conflicts", 3), ("Tour", "Tour", 8), ("GettingStarted", "GettingStarted", 7),
      ("Glossary", "HowSyncWorks", 0), ("HomeHub", "HowSyncWorks", 0),
      ("HubProtocol", "HowSyncWorks", 0),
      ("GuaranteesAndLimits", "Guarantees", 5), ("HowSyncWorks", "HowSyncWorks", 4),
      ("Keepsake", "Testing", 1), ("Layers", "Layers", 4), ("Observing", "Observing", 11),
      ("Page", "HowSyncWorks", 0), ("PostgresHub", "HowSyncWorks", 0),
      ("ProcessesAndDurability", "Durability", 8), ("SyncCompared", "HowSyncWorks", 0),
      ("SyncGuarantees", "HowSyncWorks", 0), ("SyncRecipes", "SyncRecipes", 3),
      ("Testing", "Testing", 3), ("Transformers", "Transformers", 7),
      ("TypedSettings", "TypedSettings", 11),
    ].map { article, source, minimum in
      (
        "Sources/Keepsake/Keepsake.docc/\(article).md",
        "Tests/Modules/KeepsakeTests/Articles/\(source)Article.swift", minimum
      )
    }

  @Test(arguments: articles)
  func everySnippetOfAnArticleIsCompiled(article: String, source: String, minimum: Int) throws {
    let blocks = try Project.text(article).components(separatedBy: "```").enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    let compiled = Project.unindented(try Project.text(source))
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
      // A specification is looked up, and so is an operator's manual.
      let isLookedUp = ["/HubProtocol.md", "/HomeHub.md"].contains { article.hasSuffix($0) }
      let limit = isLookedUp ? 200 : 150
      #expect(try Project.text(article).split(separator: "\n").count <= limit, "\(article)")
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
    let promises = try Project.text("Sources/Keepsake/Keepsake.docc/SyncGuarantees.md")
    let names = promises.matches(of: /`(\w+Tests)(?:\.(\w+))?`/)
    #expect(names.count >= 20)
    for name in names {
      let isThere = tests.contains { text in
        (text.contains("struct \(name.1) ") || text.contains("struct \(name.1): "))
          && name.2.map { text.contains("func \($0)(") } ?? true
      }
      #expect(isThere, "\(name.0)")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// Style that a machine can check.

import Foundation
import Testing

@Suite struct TidyTests {
  private static let code = ["Sources", "Migrations"]
  private static let everything = code + ["Tests", "Examples", "Benchmarks/Sources"]

  private static func lines(_ path: String) throws -> [(number: Int, text: Substring)] {
    let text = try Project.text(path)
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated().map { ($0.offset + 1, $0.element) }
  }

  /// The lines with some text. Regular expressions alone take ten times as long.
  private static func lines(
    _ path: String, with text: String
  ) throws -> [(number: Int, text: Substring)] {
    guard NSString(string: try Project.text(path)).contains(text) else { return [] }
    return try lines(path).filter { $0.text.contains(text) }
  }

  /// What each module may import of ours and of others; Swift's own libraries are free.
  private static let imports: [String: Set<String>] = [
    "Migrations": [], "Migrations/Hub": [], "Migrations/Postgres": [], "Sources/CKeepsake": [],
    "Sources/Injection": [], "Sources/Values": ["Foundation", "FoundationEssentials"],
    "Sources/SettingsBundle": ["KeepsakeValues"],
    "Sources/Formats": ["KeepsakeSettingsBundle", "KeepsakeValues", "Foundation"],
    "Sources/Storage": [
      "KeepsakeValues", "KeepsakeMigrations", "CKeepsake", "CSQLite", "Foundation",
    ],
    "Sources/Device": ["KeepsakeValues", "KeepsakeStorage", "Foundation"],
    "Sources/Sync": ["KeepsakeValues", "KeepsakeStorage", "KeepsakeDevice", "Foundation"],
    "Sources/Sessions": ["KeepsakeValues", "KeepsakeDevice", "KeepsakeSync", "Foundation"],
    "Sources/Hub": [
      "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync", "KeepsakeSessions", "CCurl",
      "Foundation", "FoundationNetworking",
    ],
    "Sources/CCurl": [], "Sources/CSQLite": [],
    "Sources/HubServer": ["KeepsakeValues", "KeepsakeDevice", "KeepsakeSync", "Foundation"],
    "Sources/HubFile": [
      "KeepsakeValues", "KeepsakeHubMigrations", "KeepsakeStorage", "KeepsakeDevice",
      "KeepsakeSync", "KeepsakeHubServer", "Foundation",
    ],
    "Sources/HubHTTP": [
      "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync", "KeepsakeHub", "KeepsakeHubServer",
      "Hummingbird", "HummingbirdCore", "HTTPTypes", "NIOCore", "NIOPosix",
      "NIOHTTP1", "NIOHTTPTypes", "ServiceLifecycle", "Logging", "Foundation",
    ],
    "Sources/CPostgres": [],
    "Sources/Postgres": [
      "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync", "KeepsakeHubServer",
      "KeepsakePostgresMigrations", "CPostgres", "Foundation",
    ],
    "Sources/Keepsake": [
      "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync", "KeepsakeSessions",
      "KeepsakeSettingsBundle", "KeepsakeInjection", "CKeepsake", "Logging", "Foundation",
    ],
    "Sources/Configuration": ["Keepsake", "KeepsakeValues", "Configuration"],
    "Sources/Server": ["Keepsake", "KeepsakeDevice", "KeepsakeHub", "Metrics", "ServiceLifecycle"],
    // Neither Swift Testing nor XCTest: its users have one of them.
    "Sources/Testing": [
      "Keepsake", "KeepsakeInjection", "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync",
      "CSQLite", "Foundation", "Testing",
    ],
    "Sources/CommandLine": [
      "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync", "KeepsakeSettingsBundle",
      "KeepsakeFormats", "ArgumentParser", "Foundation",
    ],
    "Sources/kvsync-hub": [
      "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync", "KeepsakeHub", "KeepsakeFormats",
      "KeepsakeCommandLine", "KeepsakeHubFile", "KeepsakeHubHTTP", "KeepsakeHubServer",
      "KeepsakePostgres", "ArgumentParser", "Logging", "Foundation",
    ],
    "Sources/kvsync": [
      "KeepsakeCommandLine", "Keepsake", "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync",
      "KeepsakeSettingsBundle", "KeepsakeFormats", "ArgumentParser",
      "Foundation",
    ],
  ]
  private static let swiftsOwn: Set<String> = [
    "Synchronization", "Observation", "Dispatch", "Glibc", "Musl", "Darwin",
  ]

  @Test(arguments: imports.keys.sorted())
  func importsGoOneWay(module: String) throws {
    let allowed = Self.imports[module, default: []].union(Self.swiftsOwn)
    for file in try Project.files(in: [module], ".swift") {
      for (number, line) in try Self.lines(file, with: "import ") {
        let statement = /^\s*(?:@\w+ )?(?:\w+ )?import (?:struct |func )?([A-Z]\w*)/
        guard let match = line.firstMatch(of: statement) else { continue }
        #expect(allowed.contains(String(match.1)), "\(file):\(number)")
      }
    }
  }

  @Test func everyFolderOfSourcesIsChecked() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Project.root.appendingPathComponent("Sources").path)
    let migrations = ["Migrations", "Migrations/Hub", "Migrations/Postgres"]
    let all = folders.filter { !$0.hasSuffix(".md") }.map { "Sources/" + $0 } + migrations
    #expect(Set(all) == Set(Self.imports.keys))
  }

  @Test(arguments: [
    "try!", "try?", "as!", "fatalError(", "preconditionFailure(", "nonisolated(unsafe)", "TODO",
    "FIXME", "XXX", "unsafeFlags",
  ])
  func whatWeDoNotWriteIsNotThere(text: String) throws {
    let pattern = try Regex(#"\b"# + NSRegularExpression.escapedPattern(for: text))
    for file in try Project.files(in: Self.code, ".swift") {
      for (number, line) in try Self.lines(file, with: text) where line.contains(pattern) {
        // The one place that may trap: the function whose documentation says so. What is declared
        // unavailable, to explain itself to the compiler's user, has a body that nothing can run.
        let isTheTrap =
          file == "Sources/Injection/Injected.swift" && line.contains("fatalError(")
          || line.contains(#"fatalError("unavailable")"#)
        #expect(isTheTrap, "\(file):\(number): \(line)")
      }
    }
  }

  /// Words of which another one is the usual one, or that say less than the name of a type.
  @Test(arguments: [
    "whoever", "somebody", "nobody", "anybody", "patience", "turnstile", "is told",
    "are told", "lifelong", "newcomer", "heeds",
  ])
  func commentsAndMessagesUseTheUsualWords(word: String) throws {
    let pattern = try Regex(#"(?i)\b"# + word + #"\b"#)
    for file in try Project.files(in: Self.code, ".swift") {
      for (number, line) in try Self.lines(file) where line.contains(pattern) {
        Issue.record("\(file):\(number): \(line)")
      }
    }
  }

  @Test func everyUncheckedSendableHasItsReason() throws {
    for file in try Project.files(in: Self.code, ".swift") {
      let lines = try Self.lines(file)
      for (number, line) in try Self.lines(file, with: "@unchecked Sendable") {
        guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
        let before = lines[max(0, number - 5)..<number].map(\.text).joined(separator: "\n")
        #expect(before.contains("Sendable:"), "\(file):\(number)")
      }
    }
  }

  /// `@testable` needs a release build that differs from the one that users get.
  @Test func testsRunWithWhatUsersGet() throws {
    for file in try Project.files(in: ["Tests"], ".swift") {
      for (number, line) in try Self.lines(file, with: "@testable") {
        #expect(!line.contains(/^ *@testable/), "\(file):\(number)")
      }
    }
  }

  /// By name: types and initialisers may be named by inference alone, and operators never are.
  @Test func packageDeclarationsAreUsedByASecondModule() throws {
    let module = { (file: String) in file.split(separator: "/").prefix(2).joined(separator: "/") }
    var users: [String: Set<String>] = [:]
    let files = try Project.files(in: Self.everything, ".swift")
    for file in files {
      for (_, line) in try Self.lines(file) where !Self.isComment(line) {
        for word in line.utf8.split(whereSeparator: { !Self.isInWord($0) }) {
          users[String(word) ?? "", default: []].insert(module(file))
        }
      }
    }
    let declaration = /^ *package (?:[a-z]+(?:\(set\))? )*(?:func|var|let) `?(\w+)/
    for file in files where file.hasPrefix("Sources/") {
      for (number, line) in try Self.lines(file, with: "package ") {
        guard let match = line.firstMatch(of: declaration) else { continue }
        // Called by the compiler, for text in quotes.
        if ["appendLiteral", "appendInterpolation"].contains(match.1) { continue }
        let others = users[String(match.1), default: []].subtracting([module(file)])
        #expect(!others.isEmpty, "\(file):\(number): \(match.1)")
      }
    }
  }

  /// Values are read and written through a device; SQL is for those who keep the file.
  @Test func sqlIsWrittenByThoseWhoKeepAFileAlone() throws {
    let sql = ["SELECT", "INSERT INTO", "DELETE FROM", "UPDATE", "CREATE TABLE", "ATTACH"]
    let keepers = [
      "Sources/Storage/", "Sources/Device/", "Sources/Sync/", "Sources/HubFile/",
      "Sources/HubServer/HubStatements.swift", "Sources/Postgres/",
    ]
    for file in try Project.files(in: ["Sources"], ".swift") {
      guard !keepers.contains(where: file.hasPrefix) else { continue }
      for (number, line) in try sql.flatMap({ try Self.lines(file, with: $0 + " ") }) {
        #expect(Self.isComment(line), "\(file):\(number)")
      }
    }
  }

  /// Modules that merge devices also use its tables; all others use `Device` alone.
  @Test(arguments: [
    (".core", ["Sources/Device/"]),
    (".tables", ["Sources/Device/", "Sources/Sync/", "Sources/Hub/", "Sources/Testing/", "Tests/"]),
    (".storageForTests", ["Tests/"]), (".setsUnderWay", ["Tests/"]),
  ])
  func theCoreOfADeviceIsUsedByItsModuleAlone(member: String, folders: [String]) throws {
    let pattern = try Regex(#"[\w)?]\"# + member + #"\b"#)
    for file in try Project.files(in: Self.everything, ".swift") {
      guard !folders.contains(where: file.hasPrefix) else { continue }
      for (number, line) in try Self.lines(file, with: member) where line.contains(pattern) {
        #expect(Self.isComment(line), "\(file):\(number): \(line)")
      }
    }
  }

  @Test(arguments: [
    (
      ["Sources/Storage", "Sources/Device", "Sources/Sync"],
      [
        "mark", "peer", "former_replica", "forgotten", "conflict", "default_value", "hub",
        "hub_held",
      ],
      // Of a first merge, of a new replica ID, and of marks that are dropped.
      ["entry", "seen", "replica"]
    ),
    (
      ["Sources/HubServer", "Sources/HubFile", "Sources/Postgres"],
      ["keepsake_device", "keepsake_invitation", "keepsake_schema"],
      // A push to PostgreSQL is one round trip; each store writes many rows at once in its way.
      [
        "keepsake_account", "keepsake_row", "keepsake_vectors", "keepsake_mark",
        "keepsake_replica",
      ]
    ),
  ])
  func everyTableIsWrittenInOneFile(
    folders: [String], tables: [String], inTwo: [String]
  ) throws {
    let write = /\b(?:INTO|UPDATE|DELETE FROM) (?:main\.)?([a-z_]+)\b/
    var writers: [String: Set<String>] = [:]
    for file in try Project.files(in: folders, ".swift") {
      for (_, line) in try Self.lines(file) where !Self.isComment(line) {
        for match in line.matches(of: write) { writers[String(match.1), default: []].insert(file) }
      }
    }
    for table in tables + inTwo {
      let limit = inTwo.contains(table) ? 2 : 1
      let files = writers[table, default: []]
      #expect((1...limit).contains(files.count), "\(table): \(files)")
    }
  }

  private static func isComment(_ line: Substring) -> Bool {
    line.utf8.drop { $0 == UInt8(ascii: " ") }.starts(with: "//".utf8)
  }

  /// As `\w` of a regular expression, which takes ten times as long.
  private static func isInWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  @Test func filesAreSmallWideEnoughToReadAndSayTheirLicence() throws {
    for file in try Project.files(in: Self.everything, ".swift") {
      let lines = try Self.lines(file)
      #expect(lines.count <= 301, "\(file): \(lines.count) lines")
      let first = file.hasSuffix("Package.swift") ? 1 : 0
      #expect(lines[first].text == "// SPDX-License-Identifier: Apache-2.0", "\(file)")
      for (number, line) in lines {
        #expect(line.count <= 100, "\(file):\(number)")
        #expect(!line.hasSuffix(" ") && !line.contains("\t"), "\(file):\(number)")
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import Foundation
import KeepsakeValues
public import Testing

/// A fresh folder, in which the tool runs; gone at the end of the test.
public final class Folder {
  public let path: String
  /// What the tool finds there beside what this process does.
  public var environment: [String: String] = [:]

  public init() throws {
    path =
      FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
      + "/kvsync-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record("\(path) cannot be removed: \(error)")
    }
  }

  // MARK: - Running

  public func run(_ arguments: [String], stdin: String? = nil) throws -> Ending {
    try Command.run(
      Command.kvsync.get(), arguments, in: path, stdin: stdin.map { "\(path)/\($0)" },
      environment: environment)
  }

  /// Runs the tool and compares all it says.
  public func expect(
    _ arguments: String..., stdin: String? = nil, prints stdout: String = "",
    says stderr: String = "", code: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try expect(
      arguments, stdin: stdin, prints: stdout, says: stderr, code: code,
      sourceLocation: sourceLocation)
  }

  public func expect(
    _ arguments: [String], stdin: String? = nil, prints stdout: String = "",
    says stderr: String = "", code: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let ending = try run(arguments, stdin: stdin)
    #expect(
      ending == Ending(stdout: stdout, stderr: stderr, code: code), "\(arguments)",
      sourceLocation: sourceLocation)
  }

  /// Runs the tool where only its effect matters.
  @discardableResult
  public func must(
    _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let ending = try run(arguments)
    try #require(ending.code == 0, "\(arguments) \(ending)", sourceLocation: sourceLocation)
    return ending.stdout
  }

  /// Runs another program, which has to succeed.
  @discardableResult
  public func shell(_ program: String, _ arguments: String...) throws -> String {
    let ending = try Command.run(Command.find(program), arguments, in: path)
    try #require(ending.code == 0, "\(program) \(arguments) \(ending)")
    return ending.stdout
  }

  /// Runs statements on a file through a log, and dies without closing.
  public func crash(_ file: String, _ statements: String...) throws {
    let script = """
      import os, sqlite3, sys
      connection = sqlite3.connect(sys.argv[1], isolation_level=None)
      connection.execute("PRAGMA wal_autocheckpoint = 0")
      for statement in sys.argv[2:]: connection.execute(statement).fetchall()
      os.kill(os.getpid(), 9)
      """
    let ending = try Command.run(
      Command.find("python3"), ["-c", script, file] + statements, in: path)
    try #require(ending.code == 128 + SIGKILL, "\(ending)")
  }

  // MARK: - Files

  /// - Returns: the path of the file.
  @discardableResult
  public func write(_ text: String, to name: String) throws -> String {
    let file = url(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  public func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(at: url(name), withIntermediateDirectories: true)
  }

  public func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: "\(path)/\(name)", withDestinationPath: target)
  }

  public func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(path)/\(name)")
  }

  public func url(_ name: String) -> URL { URL(fileURLWithPath: "\(path)/\(name)") }

  /// The names in the folder, without the logs that SQLite keeps beside a file.
  public func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
  }

  /// The digests of files, taken by another program.
  public func digests(_ names: String...) throws -> String {
    try Command.run(Command.find("sha256sum"), names, in: path).stdout
  }

  // MARK: - What a device file holds

  /// Everything that `list` can tell: identity, entries, deletions, defaults.
  public func contents(_ file: String) throws -> String {
    try must("list", file, "--json", "--deleted", "--defaults")
  }

  public func replica(_ file: String) throws -> String {
    try text(JSON(parsing: try must("list", file, "--json", "--store=none"))["replica"])
  }

  /// The `stores` of a file as text, which two files that hold the same share.
  public func stores(_ file: String) throws -> String {
    try #require(try JSON(parsing: try must("list", file, "--json"))["stores"]).text()
  }

  private func text(_ json: JSON?) throws -> String {
    guard case .string(let text)? = json else { throw Command.Missing(description: "no text") }
    return text
  }
}

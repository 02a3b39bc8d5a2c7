// SPDX-License-Identifier: Apache-2.0
//
// Where commands meet device files that no device has written.

public import Foundation

/// What a command must not do.
public struct Harm: Error, CustomStringConvertible {
  public let description: String

  public init(description: String) { self.description = description }
}

/// A folder with `good`, which is whole, and with `bad`, which is written anew for each command.
public final class Arena {
  private let folder: Folder
  public var path: String { folder.path }
  /// A device file with something in every table.
  public let whole: Data
  private let good: Data
  private let program: String

  /// Kilobytes of address space, several times what any command needs for these files (Linux alone
  /// limits it); and seconds.
  private static let (memory, patience) = (1_500_000, 20)
  private static let now = "--at=2026-11-20T12:00:00Z"

  public var pageCount: Int { whole.count / PageDamage.size }

  /// - Throws: `Harm` when the files cannot be made.
  public init() throws {
    folder = try Folder()
    program = try Command.kvsync.get()
    (whole, good) = try Self.furnish(folder, program)
  }

  private static func furnish(_ folder: Folder, _ program: String) throws -> (Data, Data) {
    func must(_ program: String, _ words: String...) throws {
      let ending = try Command.run(program, words, in: folder.path)
      guard ending.code == 0 else { throw Harm(description: "\(words) \(ending)") }
    }
    func kvsync(_ words: String..., hour: Int = 10) throws {
      let ending = try Command.run(
        program, words + ["--at=2026-11-20T\(hour):00:00Z"], in: folder.path)
      guard ending.code == 0 else { throw Harm(description: "\(words) \(ending)") }
    }
    let lines = (0..<60).map {
      let value = String(repeating: "x", count: $0 == 30 ? 2500 : $0 % 40)
      return #"{"key":"key\#($0)","type":"string","value":"\#(value)"}"#
    }
    try folder.write(lines.joined(separator: "\n"), to: "many")
    try folder.write(#"{"key":"k","type":"integer","value":1}"#, to: "lines")
    let table = "<plist version=\"1.0\"><dict><key>theme</key><string>light</string></dict></plist>"
    try folder.write(table, to: "table.plist")
    try kvsync("set", "good", "k", "v")
    try kvsync("import", "bad", "many")
    for (number, value) in typed.enumerated() {
      try kvsync("set", "bad", "typed\(number)", "--type", value.0, value.1)
    }
    try kvsync("delete", "bad", "key7")
    try kvsync("set", "bad", "k", "bad")
    try kvsync("seed", "bad", "table.plist")
    try kvsync("merge", "bad", "good")
    try kvsync("set", "good", "k", "newer", hour: 11)
    // What `FileCommand.restore` works on, and what is rare.
    try must(
      Command.find("sqlite3"), "bad",
      """
      INSERT INTO peer (replica_id, store) VALUES (0x0123456789abcdef, 'cloud');
      INSERT INTO conflict (store, key, lost_type, lost_value, lost_timestamp, lost_replica_id,
        winner_type, winner_timestamp, winner_replica_id, found_at)
      VALUES ('cloud', 'k', 1, 'lost', 1, 1, 1, 2, 2, 3);
      INSERT INTO former_replica VALUES (9, 1 << 40, 'copy', 0);
      INSERT INTO forgotten VALUES ('cloud', 1);
      PRAGMA wal_checkpoint(TRUNCATE);
      """)
    // A first merge checks every page.
    for name in ["bad", "good"] {
      let statement = "DELETE FROM peer WHERE replica_id <> 0x0123456789abcdef"
      try must(
        Command.find("sqlite3"), name, "\(statement); PRAGMA wal_checkpoint(TRUNCATE);")
    }
    return (try Data(contentsOf: folder.url("bad")), try Data(contentsOf: folder.url("good")))
  }

  private static let typed = [
    ("integer", "5"), ("real", "0.5"), ("boolean", "true"), ("data", "AAEC"),
    ("date", "2026-01-01T00:00:00Z"), ("json", "[1,\"a\"]"), ("json", "{\"a\":[true]}"),
  ]

  /// Runs the command line, within limits of memory and time.
  public func run(_ words: [String], life: TimeInterval? = nil) throws -> Ending {
    let limited =
      "[ \"$(uname)\" != Linux ] || ulimit -v \(Self.memory) || exit 99; exec \"$0\" \"$@\""
    return try Command.run(
      "/bin/sh", ["-c", limited, program] + words, in: path, life: life, patience: Self.patience)
  }

  /// Runs a command on `bad`, and looks for an answer or a refusal, and for no harm to other files.
  ///
  /// - Parameters:
  ///   - files: `bad` and what is beside it, by what follows that name.
  ///   - story: what was done to them.
  /// - Throws: `Harm` for anything else.
  public func give(
    _ files: [String: Data], _ command: FileCommand, _ story: @autoclosure () -> String
  ) throws {
    try reset(to: files)
    // It goes on where the damage is out of its way.
    let watches = command == .watch
    let ending = try run(
      command.arguments("bad") + (watches ? [] : ["--busy-timeout", "50ms", Self.now]),
      life: watches ? 0.2 : nil)
    func demand(_ holds: Bool, _ what: String) throws {
      if !holds { throw Harm(description: "\(story())\n\(command): \(what) \(ending)") }
    }
    let changesOther = FileCommand.merges.contains(command) && command != .mergeDryRun
    let isKilledWatch = watches && ending.code == 128 + SIGKILL
    switch ending.code {
    case 0: break
    case 1: try demand(command.mayAnswerNo, "answers \"no\"")
    case 64 where command.mayNameNothing, 65:
      let lines = ending.stderr.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { $0 != "kvsync: bad: watching; interrupt to stop" }
      let isOneLine = lines.count == 2 && lines[1] == ""
      try demand(isOneLine && lines[0].hasPrefix("kvsync: bad: "), "a refusal in one line")
      try demand(lines[0].contains("; "), "a refusal says what to do")
      try demand(ending.stdout == "" || watches, "a refusal prints nothing else")
      try demand(!folder.exists("cloned"), "a refused file is not cloned")
      // An empty log goes at closing, as one that SQLite has made.
      for (suffix, bytes) in files where suffix != "-shm" && (suffix == "" || !bytes.isEmpty) {
        let name = "bad" + suffix
        let same = try folder.exists(name) && Data(contentsOf: folder.url(name)) == bytes
        try demand(same, "a refused file stays as it was: bad\(suffix)")
      }
    default: try demand(isKilledWatch, "ends by \(ending.code)")
    }
    if ending.code == 0, changesOther || command == .clone {
      try demand(isInOrder("bad"), "what it worked on is in order")
      try demand(isInOrder(command == .clone ? "cloned" : "good"), "what it wrote is in order")
    }
    if ending.code != 0 || !changesOther {
      try demand(Data(contentsOf: folder.url("good")) == good, "the other file stays as it was")
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: path).filter {
      $0.contains(".new-")
    }
    try demand(left == [] || isKilledWatch, "leaves \(left)")
  }

  /// Whether SQLite's own shell finds a file in order.
  private func isInOrder(_ file: String) throws -> Bool {
    let shell = try Command.find("sqlite3")
    let ending = try Command.run(shell, [file, "PRAGMA integrity_check"], in: path)
    return ending.code == 0 && ending.stdout == "ok\n"
  }

  private func reset(to files: [String: Data]) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where !["good", "lines", "table.plist"].contains(name) {
      try FileManager.default.removeItem(at: folder.url(name))
    }
    for (suffix, bytes) in files { try bytes.write(to: folder.url("bad" + suffix)) }
    try good.write(to: folder.url("good"))
  }
}

// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import TestSupport
  import Testing

  /// A hub as a process of its own, on a free port of this machine, with devices in its folder.
  final class ServedHub {
    let folder: Folder
    let address: String
    private var process: RunningCommand

    /// - Parameter options: of `kvsync hub serve`.
    init(_ options: String...) throws {
      folder = try Folder()
      folder.environment["XDG_CONFIG_HOME"] = folder.path + "/config"
      (process, address) = try Self.serve(folder, "127.0.0.1:0", options)
    }

    deinit { _ = process.end(SIGKILL) }

    var id: pid_t { process.id }

    /// Ends it, and waits for that.
    func end(_ signal: Int32) -> Ending { process.end(signal) }

    /// Serves the same accounts at the same address.
    func serveAgain() throws {
      _ = process.end(SIGKILL)
      let (process, address) = try Self.serve(folder, String(address.dropFirst(7)), [])
      self.process = process
      try #require(address == self.address)
    }

    private static func serve(
      _ folder: Folder, _ place: String, _ options: [String]
    ) throws -> (RunningCommand, String) {
      let process = try RunningCommand(
        folder,
        [
          "hub", "serve", "--data", "hub.db", "--listen", place, "--limit",
          "requestsPerMinute=100000",
        ] + options, patience: 600)
      let line = process.line()
      let end = ", operator's secret in hub.db.secret"
      try #require(line.hasPrefix("http://127.0.0.1:") && line.hasSuffix(end), "\(line)")
      return (process, String(line.dropLast(end.count)))
    }

    // MARK: - Devices

    /// Makes a device's file and an account of it.
    ///
    /// - Parameter address: at which it is made; nil for the hub's own.
    func create(_ device: String, at address: String? = nil) throws {
      try folder.must("set", device, device, "1")
      try folder.must(
        "hub", "create", address ?? self.address, device, "--secret", "hub.db.secret")
    }

    /// Makes another one's file, which joins that account.
    func join(_ device: String, by member: String, at address: String? = nil) throws {
      try folder.must("set", device, device, "1")
      try folder.write(try folder.must("hub", "invite", member), to: "code")
      let ending = try folder.run(
        ["hub", "join", address ?? self.address, device], stdin: "code")
      try #require(ending.code == 0, "\(ending)")
    }

    /// The account of a device that has joined one.
    func account(of device: String) throws -> String {
      let text = try String(contentsOf: folder.url("config/keepsake/hubs"), encoding: .utf8)
      let line = try #require(text.split(separator: "\n").last { $0.contains("/\(device)\"") })
      return String(try #require(line.firstMatch(of: /"account":"([0-9a-f]{16})"/)).output.1)
    }

    /// Many settings, written to a device.
    func fill(_ device: String, _ prefix: String, count: Int) throws {
      let lines = (0..<count).map {
        #"{"key":"\#(prefix)\#($0)","type":"string","value":"\#(prefix) \#($0)"}"# + "\n"
      }
      try folder.write(lines.joined(), to: "lines")
      try folder.must("import", device, "lines", "--store", "cloud")
    }
  }

  extension Folder {
    /// Merges a device with a hub that has nothing new for it, and compares all that it says.
    ///
    /// - Parameter count: how many keys that changes there.
    func expectPush(
      _ device: String, _ url: String, changed count: Int,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      try expect(
        "merge", device, url,
        prints: """
          \(url) -> \(device): 0 received, 0 changed
          \(device) -> \(url): 0 received, \(count) changed
          All files hold the same.

          """, sourceLocation: sourceLocation)
    }
  }

  /// A proxy between devices and a hub.
  final class Interposer {
    let address: String
    private let folder: Folder
    private let process: RunningCommand

    init(_ hub: ServedHub) throws {
      folder = hub.folder
      let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("interposer.py").path
      process = try RunningCommand(
        folder, [script, hub.address, "\(folder.path)/steps"], program: Command.find("python3"),
        patience: 600)
      address = process.line()
      try #require(address.hasPrefix("http://"), "\(address)")
    }

    deinit { _ = process.end(SIGKILL) }

    /// Says what it does with the next requests.
    func next(_ steps: String...) throws { try next(steps) }

    func next(_ steps: [String]) throws {
      try folder.write(steps.map { $0 + "\n" }.joined(), to: "steps")
    }

    /// Waits until it holds something back.
    func waitUntilHeld() { #expect(process.line() == "held") }

    /// Whether all of its orders were carried out.
    func isDone() throws -> Bool {
      try String(contentsOf: folder.url("steps"), encoding: .utf8) == ""
    }
  }
#endif

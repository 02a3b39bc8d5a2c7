// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

/// What a process printed, and how it ended.
public struct Ending: Equatable, Sendable, CustomStringConvertible {
  public let stdout: String
  public let stderr: String
  /// The exit code; 128 and more for a signal, as a shell tells it.
  public let code: Int32

  public init(stdout: String = "", stderr: String = "", code: Int32 = 0) {
    self.stdout = stdout
    self.stderr = stderr
    self.code = code
  }

  /// Swift compares text by canonical equivalence, which would let é pass for e and an accent.
  public static func == (a: Ending, b: Ending) -> Bool {
    a.code == b.code && a.stdout.utf8.elementsEqual(b.stdout.utf8)
      && a.stderr.utf8.elementsEqual(b.stderr.utf8)
  }

  public var description: String {
    "\n  code \(code)\n  stdout \(Self.cut(stdout))\n  stderr \(Self.cut(stderr))"
  }

  private static func cut(_ text: String) -> String {
    text.count > 2000 ? text.prefix(1000) + " … " + text.suffix(200) : text
  }
}

/// Programs as real processes.
public enum Command {
  public struct Missing: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) {
      self.description = description
    }
  }

  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - program: its absolute path.
  ///   - stdin: a file to read from; nil for an empty input.
  ///   - environment: what it finds there beside what this process does.
  ///   - life: seconds until it is killed, if it still runs then.
  ///   - patience: seconds that it may run; longer than any of these needs.
  public static func run(
    _ program: String, _ arguments: [String], in folder: String = "/", stdin: String? = nil,
    environment: [String: String] = [:], life: TimeInterval? = nil, patience: Int = 60
  ) throws -> Ending {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput =
      try stdin.map {
        try FileHandle(forReadingFrom: URL(fileURLWithPath: $0))
      } ?? FileHandle.nullDevice
    let (out, error) = (Output(), Output())
    process.standardOutput = out.pipe
    process.standardError = error.pipe
    try process.run()
    let id = process.processIdentifier
    // With what it has started: Foundation makes it the leader of a group.
    let watchdog = DispatchWorkItem { kill(-id, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(patience), execute: watchdog)
    // Both at once: a program that fills one pipe while we wait on the other would never end.
    out.startReading()
    error.startReading()
    if let life {
      Thread.sleep(forTimeInterval: life)
      kill(id, SIGKILL)
    }
    // What it has started may outlive it, with these pipes.
    let end = DispatchTime.now() + .seconds(patience + 10)
    guard let stdout = out.text(until: end), let stderr = error.text(until: end) else {
      throw Missing(
        description: "\(program) \(arguments) was killed after \(patience) s, or what it had "
          + "started still has its output open; so far: \(out.text), \(error.text)")
    }
    process.waitUntilExit()
    watchdog.cancel()
    let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
    return Ending(stdout: stdout, stderr: stderr, code: signal + process.terminationStatus)
  }

  /// The tool under test.
  public static let kvsync = built("kvsync")

  /// The program that attacks devices from outside of the test process.
  public static let probe = built("keepsake-probe")

  /// Runs `keepsake-probe` to its end.
  ///
  /// - Parameter patience: seconds that it may run.
  public static func runProbe(_ words: [String], patience: Int = 60) throws -> Ending {
    try run(probe.get(), words, patience: patience)
  }

  /// An executable of this package: the build puts it beside the test bundle.
  public static func built(_ name: String) -> Result<String, any Error> {
    Result { try product(name) }
  }

  private static func product(_ name: String) throws(Missing) -> String {
    let starts = CommandLine.arguments.filter { $0.contains(".xctest") || $0.contains("/") }
    for start in starts {
      var folder = URL(fileURLWithPath: start)
      for _ in 0..<5 {
        folder.deleteLastPathComponent()
        let tool = folder.appendingPathComponent(name).path
        var isFolder: ObjCBool = false
        if FileManager.default.isExecutableFile(atPath: tool),
          FileManager.default.fileExists(atPath: tool, isDirectory: &isFolder), !isFolder.boolValue
        {
          return tool
        }
      }
    }
    throw Missing(description: "\(name) is not beside the test bundle; looked from \(starts)")
  }

  /// The absolute path of another program that these tests need.
  public static func find(_ name: String) throws -> String {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    for folder in folders.split(separator: ":") {
      let path = "\(folder)/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    throw Missing(description: "\(name) is not installed, so this claim is not tested")
  }
}

/// One end of a process's talk, read by a thread of its own.
private final class Output: Sendable {
  let pipe = Pipe()
  private let isRead = DispatchSemaphore(value: 0)
  private let bytes = Mutex(Data())

  func startReading() {
    Thread.detachNewThread {
      while case let more = self.pipe.fileHandleForReading.availableData, !more.isEmpty {
        self.bytes.withLock { $0 += more }
      }
      self.isRead.signal()
    }
  }

  var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

  /// - Returns: nil when its end was not there in time.
  func text(until end: DispatchTime) -> String? {
    isRead.wait(timeout: end) == .success ? text : nil
  }
}

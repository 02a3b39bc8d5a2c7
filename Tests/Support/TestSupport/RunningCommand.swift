// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Testing

/// A command that goes on until it is told to end.
public final class RunningCommand {
  private let process = Process()
  private let output = LinePipe()
  private let errors = LinePipe()
  private let input = Pipe()

  /// - Parameters:
  ///   - program: the path of another one than `kvsync`.
  ///   - hasInput: whether it reads what `say` writes; its input is empty otherwise.
  ///   - patience: seconds that it may run; longer than any test needs.
  public init(
    _ folder: Folder, _ words: [String], program: String? = nil, hasInput: Bool = false,
    patience: Int = 600
  ) throws {
    process.executableURL = URL(fileURLWithPath: try program ?? Command.kvsync.get())
    process.arguments = words
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ProcessInfo.processInfo.environment
      .merging(folder.environment) { $1 }
    process.standardInput = hasInput ? input : FileHandle.nullDevice
    process.standardOutput = output.pipe
    process.standardError = errors.pipe
    try process.run()
    let id = id
    // Whatever goes wrong, nobody waits for ever.
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(patience)) { kill(id, SIGKILL) }
  }

  /// `kvsync watch` of a file, once it watches.
  public convenience init(watching file: String, in folder: Folder, _ words: String...) throws {
    try self.init(folder, ["watch", file] + words)
    #expect(said() == "kvsync: \(file): watching; interrupt to stop")
  }

  /// Of the process.
  public var id: pid_t { process.processIdentifier }

  /// The next line that it prints, waited for.
  public func line() -> String { output.line() }

  /// The next line beside the data, waited for.
  public func said() -> String { errors.line() }

  /// Writes a line to its input.
  public func say(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Ends its input, and waits until it has ended.
  public func finish() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The path of what it has open that ends so, as the system names it; nil where there is none.
  public func openFile(endingWith suffix: String) throws -> String? {
    let folder = "/proc/\(id)/fd"
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .map { try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) }
      .first { $0.hasSuffix(suffix) }
  }

  /// Sends it a signal; what it has still to say, and how it ends.
  public func end(_ signal: Int32 = SIGINT) -> Ending {
    if process.isRunning { kill(id, signal) }
    let (rest, complaints) = (output.rest(), errors.rest())
    process.waitUntilExit()
    let killed: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
    return Ending(
      stdout: rest, stderr: complaints, code: killed + process.terminationStatus)
  }
}

private final class LinePipe {
  let pipe = Pipe()
  private var unread: [UInt8] = []

  func line() -> String {
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let more = pipe.fileHandleForReading.availableData
      guard !more.isEmpty else { return "(the end)" }
      unread += more
    }
  }

  func rest() -> String {
    String(
      decoding: unread + pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}

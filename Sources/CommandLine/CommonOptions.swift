// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import KeepsakeDevice
import KeepsakeFormats
package import KeepsakeValues

/// A subcommand of `kvsync`.
package protocol Subcommand: ParsableCommand {
  var common: CommonOptions { get }
  /// Whether a progress line may be shown.
  var hasProgress: Bool { get }
}

extension Subcommand {
  package var hasProgress: Bool { true }
}

extension ParsableCommand {
  /// Runs the command, with a progress line if it may have one.
  package mutating func runShowingProgress() throws {
    let words = CommandLine.arguments.dropFirst()
    let name = words.prefix(words.first == "hub" ? 2 : 1).joined(separator: " ")
    if let command = self as? any Subcommand, command.hasProgress {
      ProgressLine.begin(name, command.common.output)
    }
    try run()
    ProgressLine.end()
  }
}

/// Options of every command.
package struct CommonOptions: ParsableArguments, Sendable {
  @Flag(help: "Print exactly one JSON value; watch, one a line.")
  package var json = false

  @Flag(help: "Print only what was asked for.")
  package var quiet = false

  @Option(
    name: .customLong("at"),
    help: """
      Stands in for the clock: ISO 8601, or milliseconds since 1970. (default: this machine's clock)
      """,
    transform: ArgumentValue.milliseconds)
  package var time: Int64?

  @Option(
    help: "How long to wait for a locked file: a number and ms, s, m, h or d. (default: 5s)",
    transform: ArgumentValue.duration)
  package var busyTimeout = Device.defaultBusyTimeout

  package init() {}

  package var output: Output { Output(isJSON: json, isQuiet: quiet) }
  package var clock: WallClock { time.map { .fixed(Date(milliseconds: $0)) } ?? .system }

  package func open(_ path: String, _ access: Device.Access) throws(KeepsakeError) -> Device {
    try Device(
      path: path, access: access, busyTimeout: busyTimeout, clock: clock)
  }
}

extension CommonOptions {
  /// Opens a new device under the name of a draft.
  package func open(_ draft: Draft) throws(KeepsakeError) -> Device {
    try draft.populate(.random())
    return try open(draft.path, .existing)
  }

  /// Writes to a file. A missing file is created under another name, and renamed when all is
  /// written, so a command that fails leaves no file behind.
  package func writing<Value>(to path: String, _ body: (Device) throws -> Value) throws -> Value {
    if path.isEmpty { throw InputError.usage("the path of the file is empty; name a file") }
    guard try FileID(of: path) == nil else { return try body(try open(path, .existing)) }
    let draft = try Draft(of: path)
    let value: Value
    do {
      value = try fill(draft, body)
    } catch let error as KeepsakeError {
      throw error.path == draft.path ? error.at(path) : error
    }
    // Another program has made the file meanwhile, or the path is a dangling link.
    guard try draft.publish() else { return try body(try open(path, .existing)) }
    return value
  }

  /// The file is closed when this returns.
  private func fill<Value>(_ draft: Draft, _ body: (Device) throws -> Value) throws -> Value {
    let device = try open(draft)
    let value = try body(device)
    try device.emptyLog()
    return value
  }
}

/// Checks a store's name before any file is touched.
package func checkStore(_ store: String?, of path: String) throws {
  if store == "" { throw InputError.usage("\(path): the store name is empty; name a store") }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A server of Redis that has each command on the disk before it answers.
final class Redis {
  private let process = Process()
  private let socket: String
  private let client: String

  init() throws {
    client = try Command.find("redis-benchmark")
    let folder = Files.new("-redis")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    socket = folder + "/socket"
    process.executableURL = URL(fileURLWithPath: try Command.find("redis-server"))
    process.arguments = [
      "--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "", "--appendonly", "yes",
      "--appendfsync", "always",
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    for _ in 0..<500 where !FileManager.default.fileExists(atPath: socket) { usleep(10_000) }
  }

  deinit { process.terminate() }

  /// - Parameter command: `set`, or `mset`, which sets ten keys.
  func nanoseconds(_ command: String, _ count: Int, connections: Int) throws -> Double {
    let words = [
      client, "-s", socket, "-t", command, "-n", "\(count)", "-c", "\(connections)", "-d", "80",
      "-r", "1000000", "--csv",
    ]
    let line = try Command.run(words).split(separator: "\n").last ?? ""
    let columns = line.split(separator: ",").map { $0.filter { $0 != "\"" } }
    guard columns.count > 1, let each = Double(columns[1]) else {
      throw Failure("redis-benchmark says \(line)")
    }
    return 1e9 / each
  }
}

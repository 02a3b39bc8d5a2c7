// SPDX-License-Identifier: Apache-2.0
//
// Runs the same jobs on Foundation's UserDefaults and on Keepsake, each job in processes of its
// own, and prints a table.

import Foundation
import Keepsake

let words = CommandLine.arguments

/// A job in a process of its own, on new settings unless `folder` has some.
struct Job {
  let name: String
  let settings: String
  let folder: URL

  func start() throws -> Running {
    let (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: Bundle.main.executablePath ?? words[0])
    process.arguments = [name, settings, folder.path]
    // Where Foundation keeps UserDefaults on Linux.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["XDG_CONFIG_HOME": folder.path]) { $1 }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    return Running(process: process, input: input, output: output)
  }
}

struct Running {
  let process: Process
  let input: Pipe
  let output: Pipe

  /// Waits until the job has said that it is ready.
  func ready() { _ = output.fileHandleForReading.availableData }

  func go() throws { try input.fileHandleForWriting.close() }

  /// Waits for the end of the job.
  ///
  /// - Returns: what it has printed.
  func result() -> String {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}

func work(_ name: String, on settings: any Settings, of kind: String, in folder: URL) throws {
  switch name {
  case "die":
    for number in 1...1000 { settings.set(number, forKey: "key\(number)") }
    kill(getpid(), SIGKILL)
  case "count": print((1...1000).filter { settings.integer(forKey: "key\($0)") == $0 }.count)
  case "add":
    // Both processes have read the counter before one of them adds to it.
    _ = settings.integer(forKey: "sum")
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    _ = readLine()
    for _ in 1...1000 { try settings.addOne(toKey: "sum") }
    _ = settings.synchronize()
  case "sum": print(settings.integer(forKey: "sum"))
  case "set":
    settings.set(7, forKey: "heard")
    _ = settings.synchronize()
  case "hear":
    guard settings.integer(forKey: "heard") == 0 else { return }
    let other = try Job(name: "set", settings: kind, folder: folder).start()
    try other.go()
    _ = other.result()
    print(settings.integer(forKey: "heard") == 7 ? "yes" : "no")
  default: print("unknown job \(name)")
  }
}

/// Each row: what is looked at, the jobs that run one after the other (those in one list at once),
/// the last of which prints the result.
let facts: [(title: String, jobs: [[String]])] = [
  ("1,000 sets, then kill -9: survive", [["die"], ["count"]]),
  ("two processes add 1 to a counter 1,000 times each", [["add", "add"], ["sum"]]),
  ("another process's set is seen at the next read", [["hear"]]),
]

if words.count == 4 {
  let folder = URL(fileURLWithPath: words[3])
  let settings: any Settings =
    words[2] == "Keepsake"
    ? try Keepsake(path: folder.appendingPathComponent("device.keepsake").path)
    : UserDefaults(suiteName: "beside-userdefaults") ?? .standard
  try work(words[1], on: settings, of: words[2], in: folder)
} else {
  print("| | UserDefaults | Keepsake |\n| --- | --- | --- |")
  for row in facts {
    let results = try ["UserDefaults", "Keepsake"].map { kind in
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("beside-userdefaults-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { _ = Result { try FileManager.default.removeItem(at: folder) } }
      var result = ""
      for jobs in row.jobs {
        let started = try jobs.map { try Job(name: $0, settings: kind, folder: folder).start() }
        if started.count > 1 { for job in started { job.ready() } }
        for job in started { try job.go() }
        for job in started { result = job.result() }
      }
      return result
    }
    print("| \(row.title) | \(results[0]) | \(results[1]) |")
  }
}

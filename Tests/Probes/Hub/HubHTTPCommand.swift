// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct HubHTTPCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "http", abstract: "Measures a hub that another process serves by HTTP.",
    discussion: """
      Prints the nanoseconds of one operation: single, up, down, nothing, push, pushes, or \
      heard (the median and the 99th percentile). The kind listeners prints the bytes of each one, \
      and the processor nanoseconds of all in a second.
      """)

  @Argument(help: "The kind of operation.") var kind: String
  @Argument(help: "The number of operations, of rows, or of listeners.") var count: Int
  @Argument(help: "The path of kvsync-hub.") var program: String
  @Argument(help: "The address of a database without accounts. (default: a new file)")
  var postgres: String?

  func run() throws {
    let figures = try HTTPMeasurements.measure(kind, count, program, postgres: postgres)
    say(figures.map { "\($0)" }.joined(separator: " "))
  }
}

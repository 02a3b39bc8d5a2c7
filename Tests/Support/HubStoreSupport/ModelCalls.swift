// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Requests of random histories, which the model writes.
package enum ModelCalls {
  package struct Failed: Error {
    package let text: String
  }

  /// - Parameter folder: of the checkout.
  package static func text(
    in folder: String, seed: Int, histories: Int, marks: Int, pages: Int
  ) throws -> String {
    let (process, output, errors) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", folder + "/Tests/Conformance/hub_calls.py", "--seed", "\(seed)", "--histories",
      "\(histories)", "--marks", "\(marks)", "--pages", "\(pages)",
    ]
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let said = errors.fileHandleForReading.readDataToEndOfFile()
      throw Failed(text: String(decoding: said, as: UTF8.self))
    }
    return text
  }
}

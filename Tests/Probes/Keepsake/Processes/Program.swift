// SPDX-License-Identifier: Apache-2.0

import Foundation

/// This program, and those that the build has put beside it.
enum Program {
  static let name = "keepsake-probe"

  static var own: String { beside(name) }

  /// The path of a program.
  static func beside(_ name: String) -> String {
    let own = URL(fileURLWithPath: Bundle.main.executablePath ?? CommandLine.arguments[0])
    return own.deletingLastPathComponent().appendingPathComponent(name).path
  }
}

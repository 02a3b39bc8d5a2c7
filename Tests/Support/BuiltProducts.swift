// SPDX-License-Identifier: Apache-2.0

import Foundation

public enum BuiltProducts {
  /// The path of an executable of this package, beside the running test bundle.
  public static func path(_ name: String) -> String {
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return bundle.appendingPathComponent(name).path
  }
}

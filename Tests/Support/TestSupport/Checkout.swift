// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The folder of this package.
public enum Checkout {
  public static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The absolute path of a file or folder in it.
  public static func path(_ name: String) -> String { root.appendingPathComponent(name).path }
}

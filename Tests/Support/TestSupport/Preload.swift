// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Libraries that a program loads before all others, so that they stand before the system's calls.
enum Preload {
  /// - Parameter source: in C.
  /// - Returns: the library's path, for `LD_PRELOAD`.
  static func make(_ source: String) throws -> String {
    #if os(Linux)
      // The loader takes a space for the end of a name.
      let folder = "/tmp/keepsake-preload-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      try Data(source.utf8).write(to: URL(fileURLWithPath: folder + "/preload.c"))
      let arguments = ["-shared", "-fPIC", "-O1", "-o", "preload.so", "preload.c", "-ldl"]
      let ending = try Command.run(Command.find("clang"), arguments, in: folder)
      guard ending.code == 0 else { throw Command.Missing(description: "\(ending)") }
      return folder + "/preload.so"
    #else
      throw Command.Missing(description: "this system has no LD_PRELOAD")
    #endif
  }
}

// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Foundation
package import KeepsakeDevice

/// A helper program that `kvsync` executes for some subcommands, with the same arguments.
package enum HelperProgram {
  /// Runs the command that is named, and ends the process as `kvsync` would.
  package static func run<Root: ParsableCommand>(_ root: Root.Type) {
    do {
      try ProcessLimits.prepare()
      var command = try Root.parseAsRoot()
      try command.runShowingProgress()
    } catch {
      ExitStatus(error, of: Root.self).exit()
    }
  }

  /// Runs asynchronous work, and blocks the main thread until it ends.
  package static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
    let end = Completion()
    Task {
      do {
        end.complete(with: .success(try await body()))
      } catch {
        end.complete(with: .failure(error))
      }
    }
    try end.wait()
  }

  /// Runs a server until it ends, and adds place and cure to its errors.
  ///
  /// - Parameters:
  ///   - place: the address on which it listens.
  ///   - problem: the beginning of an error's text, before the reason.
  package static func serve(
    at place: String, _ problem: String, cure: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws {
    do {
      try wait(body)
    } catch let error as KeepsakeError {
      throw error
    } catch {
      throw KeepsakeError(
        .inputOutput, path: place, "\(problem): \(reason("\(error)"))", cure: cure)
    }
  }

  /// The system's message for the error number at the end of a library's text, or the text if it
  /// has none.
  package static func reason(_ text: String) -> String {
    guard let end = text.firstMatch(of: /\(errno: (\d+)\)$/), let number = Int32(end.1) else {
      return text
    }
    return String(cString: strerror(number))
  }

  /// The error of a command whose part was not built.
  package static func lacks(_ part: String, cure: String) -> KeepsakeError {
    KeepsakeError(
      .incompatible, path: "(this kvsync)", "it was built without \(part)", cure: cure)
  }
}

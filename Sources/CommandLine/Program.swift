// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Foundation
package import KeepsakeDevice

/// What `kvsync` becomes for some commands, with the same words.
package enum Program {
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

  /// Waits on the main thread, which has nothing else to do.
  package static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
    let end = Ending()
    Task {
      do {
        end.come(.success(try await body()))
      } catch {
        end.come(.failure(error))
      }
    }
    try end.wait()
  }

  /// Serves, on the main thread, until that ends.
  ///
  /// - Parameters:
  ///   - place: where it listens.
  ///   - problem: what is wrong when it does not, before the reason.
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

  /// The system's words, if the text of an error ends with a number of the system's, as that of a
  /// library's error of input or output does.
  package static func reason(_ text: String) -> String {
    guard let end = text.firstMatch(of: /\(errno: (\d+)\)$/), let number = Int32(end.1) else {
      return text
    }
    return String(cString: strerror(number))
  }

  /// Why a command fails whose part was not built.
  package static func lacks(_ part: String, cure: String) -> KeepsakeError {
    KeepsakeError(
      .incompatible, path: "(this kvsync)", "it was built without \(part)", cure: cure)
  }
}

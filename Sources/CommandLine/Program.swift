// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Foundation
import Synchronization

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
    // Held to put the result in, or to take it out.
    let result = Mutex<Result<Void, any Error>>(.success(()))
    let end = DispatchSemaphore(value: 0)
    Task {
      do { try await body() } catch { result.withLock { $0 = .failure(error) } }
      end.signal()
    }
    end.wait()
    try result.withLock { try $0.get() }
  }
}

// SPDX-License-Identifier: Apache-2.0

package import FileSystemShim

/// What sees every call that SQLite makes to its file system in this process, and decides it.
///
/// Its functions are called on the thread that makes the call, with no lock held.
package protocol FileSystemWatcher: AnyObject, Sendable {
  /// - Returns: what becomes of the call.
  func willMake(_ call: shim_call) -> shim_verdict
  func didMake(_ call: shim_call, code: Int32)
}

extension FileSystemWatcher {
  package func willMake(_ call: shim_call) -> shim_verdict { .pass }
  package func didMake(_ call: shim_call, code: Int32) {}
}

extension shim_verdict {
  /// The call is made.
  package static var pass: shim_verdict { shim_verdict(code: SQLITE_OK, partial: 0) }

  /// The call is not made.
  ///
  /// - Parameters:
  ///   - code: its result.
  ///   - partial: bytes that a read or write transfers nevertheless.
  package static func fail(_ code: Int32, partial: Int32 = 0) -> shim_verdict {
    shim_verdict(code: code, partial: partial)
  }
}

/// The layer below SQLite, which a process installs once, before it opens a file.
package enum FileSystemCalls {
  /// Lets `watcher` see all calls from now on. Process-wide; while it changes, no other thread may
  /// use SQLite.
  package static func watch(_ watcher: (any FileSystemWatcher)?) {
    let code = shim_install()
    precondition(code == SQLITE_OK, "SQLite refuses another file system: code \(code)")
    guard let watcher else { return shim_watch(nil, nil, nil) }
    // Kept for good: a thread may be in a call.
    let box = Unmanaged.passRetained(Box(watcher))
    shim_watch(
      { Self.watcher($0).willMake($1!.pointee) },
      { Self.watcher($0).didMake($1!.pointee, code: $2) }, box.toOpaque())
  }

  private final class Box {
    let watcher: any FileSystemWatcher
    init(_ watcher: any FileSystemWatcher) { self.watcher = watcher }
  }

  private static func watcher(_ context: UnsafeMutableRawPointer?) -> any FileSystemWatcher {
    Unmanaged<Box>.fromOpaque(context!).takeUnretainedValue().watcher
  }
}

extension FileSystemCalls {
  /// Lets this process no longer wait for the disk.
  package static func ignoreSyncs() { shim_ignore_syncs() }

  /// What this process does to names in folders: what, the name, and the new name.
  typealias Naming<Result> = @Sendable (shim_naming, String, String?) -> Result

  private final class NameBox {
    let will: Naming<Int32>
    let did: Naming<Void>
    init(_ will: @escaping Naming<Int32>, _ did: @escaping Naming<Void>) {
      (self.will, self.did) = (will, did)
    }
  }

  /// Lets two functions see what this process does to names in folders from now on, on the thread
  /// that does it; none sees it without them.
  ///
  /// - Parameters:
  ///   - will: returns what it fails with, an `errno`, or 0.
  ///   - did: sees what has succeeded.
  static func watchNames(will: Naming<Int32>? = nil, did: Naming<Void>? = nil) {
    if will == nil, did == nil { return shim_watch_names(nil, nil, nil) }
    // Kept for good: a thread may be in a call.
    let box = Unmanaged.passRetained(NameBox(will ?? { _, _, _ in 0 }, did ?? { _, _, _ in }))
    shim_watch_names(
      { Self.names($0).will($1, String(cString: $2!), $3.map { String(cString: $0) }) },
      { Self.names($0).did($1, String(cString: $2!), $3.map { String(cString: $0) }) },
      box.toOpaque())
  }

  private static func names(_ context: UnsafeMutableRawPointer?) -> NameBox {
    Unmanaged<NameBox>.fromOpaque(context!).takeUnretainedValue()
  }
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import KeepsakeHubFile
import KeepsakeHubServer
import KeepsakeStorage
import Synchronization
import TestSupport

/// A folder with a hub's file.
final class HubFolder: Sendable {
  let folder: TemporaryFolder
  var path: String { folder.path + "/hub.sqlite" }
  var log: String { path + "-wal" }

  init() throws { folder = try TemporaryFolder() }

  func open() throws -> HubFile { try HubFile(path: path, busyTimeout: .zero) }

  func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  /// What is in the folder, and in each file; while none has the file open: closing it here would
  /// drop SQLite's locks.
  var contents: [String: Data] {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      return try names.reduce(into: [:]) { $0[$1] = try bytes("\(folder.path)/\($1)") }
    }
  }

  /// The file's size and when it was changed, without opening it.
  var status: (size: Int, time: Date) {
    get throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      return (
        attributes[.size] as? Int ?? 0, attributes[.modificationDate] as? Date ?? .distantPast
      )
    }
  }

  func shell(_ sql: String) throws -> String {
    let ending = try Command.run(Command.find("sqlite3"), [path, sql])
    guard ending.code == 0 else { throw Command.Missing(description: "\(ending)") }
    return ending.stdout
  }
}

extension HubFile {
  /// Lets the thread wait until the work that follows is submitted, so that it becomes one batch.
  func together(_ submit: () -> Void) {
    let (isThere, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    run(
      HubWork<Void>(HubQuery(0, isWriting: false)) { _ in
        isThere.signal()
        mayGo.wait()
        return ((), nil)
      }
    ) { _ in }
    isThere.wait()
    submit()
    mayGo.signal()
  }
}

/// Lines, in the order in which they were noted.
final class NotedLines: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func note(_ line: String) { lines.withLock { $0.append(line) } }
}

// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Foundation
public import KeepsakeDevice
import Synchronization

/// Runs `body` once: on the thread that is about to run a statement on a device's connection, right
/// before it. Makes a race certain.
public final class StatementHook: Sendable {
  private let device: Device
  private let text: String
  private let body: @Sendable (_ interrupt: () -> Void) -> Void
  private let isSpent = Atomic<Bool>(false)

  /// - Parameters:
  ///   - text: a part of the statement's SQL.
  ///   - body: `interrupt` makes the statement fail.
  public init(
    _ device: Device, before text: String,
    _ body: @escaping @Sendable (_ interrupt: () -> Void) -> Void
  ) throws {
    (self.device, self.text, self.body) = (device, text, body)
    try set { connection, this in
      sqlite3_trace_v2(
        connection, UInt32(SQLITE_TRACE_STMT),
        { _, context, statement, _ in
          guard let context, let statement = statement.map(OpaquePointer.init) else { return 0 }
          Unmanaged<StatementHook>.fromOpaque(context).takeUnretainedValue().see(statement)
          return 0
        }, this)
    }
  }

  /// Whether the statement came.
  public var wasRun: Bool { isSpent.load(ordering: .acquiring) }

  public func remove() throws {
    try set { connection, _ in sqlite3_trace_v2(connection, 0, nil, nil) }
  }

  private func set(
    _ body: (OpaquePointer?, UnsafeMutableRawPointer) -> Int32
  ) throws {
    try device.tables.access {
      _ = body($0.handle, Unmanaged.passUnretained(self).toOpaque())
    }
  }

  private func see(_ statement: OpaquePointer) {
    guard let sql = sqlite3_sql(statement), String(cString: sql).contains(text),
      !isSpent.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    body { sqlite3_interrupt(sqlite3_db_handle(statement)) }
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// SQLite itself refuses the writes (https://www.sqlite.org/pragma.html#pragma_query_only), so they
// fail at the same place as on a read-only disk, and production code has no test hook.

public import KeepsakeDevice

extension Device {
  /// Runs `body` while every write to this device, by any of its handles and stores in this
  /// process, fails with `KeepsakeError.Code.permissionDenied`. Reads succeed.
  ///
  ///     try device.whileWritesFail { settings.username = "ada" }
  ///     #expect(settings.username == "guest" && settings.failures.count == 1)
  ///
  /// - Throws: the error of `body`, or `KeepsakeError` when the device cannot be used.
  public func whileWritesFail<Value>(_ body: () throws -> Value) throws -> Value {
    guard !isReadOnly else { return try body() }
    try tables.access { try $0.run("PRAGMA query_only = ON") }
    let result = Result { try body() }
    try tables.access { try $0.run("PRAGMA query_only = OFF") }
    return try result.get()
  }
}

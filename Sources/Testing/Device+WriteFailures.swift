// SPDX-License-Identifier: Apache-2.0
//
// SQLite itself refuses the writes (https://www.sqlite.org/pragma.html#pragma_query_only), so what
// fails is what fails on a read-only disk, at the same place, and nothing on the way of a write has
// to ask whether this is a test.

public import KeepsakeDevice

extension Device {
  /// Runs `body` while the file cannot be written: every write to this device, by any of its
  /// handles and stores in this process, fails with `KeepsakeError.Code.permissionDenied`. Reading
  /// goes on.
  ///
  ///     try device.whileWritesFail { settings.username = "ada" }
  ///     #expect(settings.username == "guest" && settings.errors.count == 1)
  ///
  /// - Throws: what `body` throws, or `KeepsakeError` when the device cannot be used.
  public func whileWritesFail<Value>(_ body: () throws -> Value) throws -> Value {
    guard !isReadOnly else { return try body() }
    try core.access { try $0.run("PRAGMA query_only = ON") }
    let result = Result { try body() }
    try core.access { try $0.run("PRAGMA query_only = OFF") }
    return try result.get()
  }
}

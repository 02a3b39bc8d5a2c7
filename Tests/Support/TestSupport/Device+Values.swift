// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeValues
package import Testing

extension Device {
  /// Opens a device whose work a test may change.
  package convenience init(
    _ path: String, _ access: Access = .existing, hooks: OpeningHooks
  ) throws(KeepsakeError) {
    try self.init(
      path: path, access: access, busyTimeout: Device.defaultBusyTimeout, clock: .system,
      folder: nil, identity: .random(), hooks: hooks)
  }

  /// The live values of a store, at one moment.
  package func values(store: String) throws(KeepsakeError) -> [ByteText: TaggedCell] {
    var values: [ByteText: TaggedCell] = [:]
    try forEachEntry(store: store) { values[$0.address.key] = $0.content.ifValue }
    return values
  }

  /// Each entry as text.
  package func lines() throws(KeepsakeError) -> [String] {
    var lines: [String] = []
    try forEachEntry { lines.append("\($0)") }
    return lines
  }

  package func keys() throws(KeepsakeError) -> [String] {
    var keys: [String] = []
    try forEachEntry { keys.append($0.address.key.string) }
    return keys
  }

  package func value(
    _ key: String, store: String = "cloud"
  ) throws(KeepsakeError) -> StoredValue? {
    try entry(store: store, key: key)?.content.value
  }

  /// Writes one key.
  package func set(
    _ key: String, _ value: StoredValue?, store: String = "cloud",
    durability: Durability = .crashSafe
  ) throws(KeepsakeError) {
    try write([LocalWrite(store: store, key: key, value: value)], durability: durability)
  }

  /// Runs statements in one write transaction of the device.
  package func execute(_ statements: String...) throws(KeepsakeError) {
    try tables.write { connection in
      for statement in statements { try connection.run(statement) }
      return ((), [])
    }
  }

  /// Runs statements in SQLite's shell, and returns its output. It waits for the write lock, which
  /// a checkpoint in the background may hold.
  @discardableResult
  package func shell(
    _ sql: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let ending = try Command.run(Command.find("sqlite3"), ["-cmd", ".timeout 60000", path, sql])
    #expect(ending.code == 0, "\(ending)", sourceLocation: sourceLocation)
    return ending.stdout
  }
}

extension Collected<SettingChange> {
  /// Hears the changes of a device, whose observers must not fail.
  package func observe(
    _ device: Device, store: String? = nil, _ keys: KeyFilter = .all
  ) -> ObservationToken {
    device.observe(store: store, keys) { self.append($0) } onFailure: { Issue.record($0) }
  }
}

/// Expects that `body` throws an error of Keepsake with this code.
package func expectError<Result>(
  _ code: KeepsakeError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Result
) {
  let error = #expect(throws: KeepsakeError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  #expect(error?.code == code, sourceLocation: sourceLocation)
}

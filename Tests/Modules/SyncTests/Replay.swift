// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeStorage
import KeepsakeSync
import KeepsakeValues
import Synchronization

/// Plays a history of the model on devices, and compares them after each operation.
final class Replay {
  /// The time of the model, which all devices have.
  final class ModelClock: Sendable {
    let time = Mutex<Int64>(0)

    var wallClock: WallClock {
      WallClock { [self] in Date(milliseconds: time.withLock { $0 } >> 16) }
    }
  }

  /// What an observer was told.
  private final class Events: Sendable {
    let all = Mutex<[ModelEvent]>([])

    func add(_ changes: [SettingChange]) {
      all.withLock { all in
        all += changes.map { change in
          var value: String?
          if case .text(let text) = change.after.cell { value = text }
          return ModelEvent(store: change.store, key: change.key, value: value)
        }
      }
    }

    func take() -> [ModelEvent] {
      all.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  private struct File {
    let device: Device
    let events = Events()
    let token: ObservationToken

    init(_ device: Device) {
      self.device = device
      token = device.observe { [events] in events.add($0) } onFailure: { _ in }
    }
  }

  /// The next numbers of an operation.
  final class Numbers {
    var replicaIDs: [Int64]
    var markBits: [Int64]

    init(_ operation: ModelOperation) {
      replicaIDs = operation.replicaIDs ?? []
      markBits = operation.markBits ?? []
    }

    func replicaID() -> ReplicaID {
      ReplicaID(rawValue: replicaIDs.isEmpty ? 1 : replicaIDs.removeFirst())
    }

    var source: IdentitySource {
      IdentitySource(
        replicaID: replicaID, markBits: { [self] in markBits.isEmpty ? 1 : markBits.removeFirst() })
    }
  }

  let clock = ModelClock()
  let pageSize: Int
  private let usesFiles: Bool
  var hubs = ReplayedHubs()
  private var files: [String: File] = [:]
  private var backups: [String: Device] = [:]
  /// Boundaries whose names were not as expected, and other faults of the replay.
  var faults: [String] = []

  /// - Parameters:
  ///   - pageSize: rows of one transaction.
  ///   - usesFiles: whether the devices have files, and are not in memory.
  init(pageSize: Int, usesFiles: Bool) {
    (self.pageSize, self.usesFiles) = (pageSize, usesFiles)
  }

  /// Plays one line.
  ///
  /// - Returns: what differs.
  func play(_ line: ModelLine) throws -> [String] {
    try perform(line.operation)
    defer { faults = [] }
    return try faults
      + line.files.sorted { $0.key < $1.key }.flatMap { name, model -> [String] in
        let file = try file(name)
        let state = try FileState(of: file.device).differences(from: FileState(model))
        let events = differences(file.events.take(), line.events[name] ?? [], model)
        return (state + events).map { "\(name) \($0)" }
      } + hubs.differences(from: line.hubs)
  }

  /// The last event of each key has to be the model's, unless nothing has changed on the whole.
  private func differences(
    _ events: [ModelEvent], _ model: [ModelEvent], _ file: ModelFile
  ) -> [String] {
    func last(_ events: [ModelEvent]) -> [String: ModelEvent] {
      Dictionary(events.map { ("\($0.store)/\($0.key)", $0) }, uniquingKeysWith: { $1 })
    }
    let (own, expected) = (last(events), last(model))
    return Set(own.keys).union(expected.keys).sorted().compactMap { key in
      if own[key] == expected[key] { return nil }
      // Set and set back.
      if own[key] == nil, model.count(where: { "\($0.store)/\($0.key)" == key }) > 1 { return nil }
      return "event of \(key): \(String(describing: own[key])) instead of "
        + String(describing: expected[key])
    }
  }

  struct UnknownFile: Error { let name: String? }

  func device(_ name: String?) throws -> Device { try file(name).device }

  private func file(_ name: String?) throws -> File {
    guard let name, let file = files[name] else { throw UnknownFile(name: name) }
    return file
  }

  // MARK: - Operations

  private func perform(_ operation: ModelOperation) throws {
    let before = clock.time.withLock { $0 }
    if let now = operation.now { clock.time.withLock { $0 = now } }
    defer { clock.time.withLock { $0 = before } }
    let numbers = Numbers(operation)
    hubs.replicas.formUnion(numbers.replicaIDs)
    switch operation.do {
    case .create:
      files[operation.file ?? ""] = File(try newDevice(numbers.replicaID()))
    case .write: try write(operation)
    case .resolve: try resolve(operation)
    case .merge:
      try merge(operation.files ?? [], operation, numbers, MergeOptions())
    case .oneWay:
      var options = MergeOptions(isOneWay: true)
      options.marksSources = operation.isWritable ?? true
      try merge(
        [operation.source, operation.target].compactMap { $0 }, operation, numbers, options)
    case .copy: files[operation.as ?? ""] = File(try copy(of: file(operation.file).device))
    case .backup: backups[operation.as ?? ""] = try copy(of: file(operation.file).device)
    case .restore:
      guard let backup = backups[operation.from ?? ""] else {
        throw UnknownFile(name: operation.from)
      }
      files[operation.file ?? ""] = File(try copy(of: backup))
    case .newID:
      try file(operation.file).device.takeNewID(numbers.replicaID(), reason: .restore)
    case .clock: break
    case .repair: try repair(operation, numbers)
    case .compact:
      let limit = HybridTimestamp(rawValue: operation.before ?? 0)
      let device = try device(operation.file)
      let deletions = try device.tables.read { try $0.deletions(before: limit) }
      _ = try device.tables.write { (try $0.forget(before: limit), []) }
      for name in operation.hubs ?? [] { try device.forget(deletions, at: hubs.channel(name)) }
    case .remove: files[operation.file ?? ""] = nil
    case .hub: try sync(operation, numbers)
    case .createHub, .backupHub, .restoreHub: try hubs.perform(operation)
    }
    if !numbers.replicaIDs.isEmpty || !numbers.markBits.isEmpty {
      faults.append("\(operation.do) drew too few numbers: left are \(numbers.replicaIDs) IDs"
        + " and \(numbers.markBits) bits")
    }
  }

  private func write(_ operation: ModelOperation) throws {
    _ = try file(operation.file).device.write([
      LocalWrite(
        store: operation.store ?? "", key: operation.key ?? "",
        value: operation.value.map { .string($0) })
    ])
  }

  private func resolve(_ operation: ModelOperation) throws {
    let device = try file(operation.file).device
    let (store, key) = (operation.store ?? "", operation.key ?? "")
    try device.tables.write { connection in
      for conflict in try connection.conflictLog.conflicts(after: 0, store: store)
      where conflict.key == key {
        _ = try connection.conflictLog.markResolved(conflict.id)
      }
      return ((), [])
    }
    let entry = try device.entry(store: store, key: key)
    let value = operation.value.map { StoredValue.string($0) }
    if entry == nil || entry?.content.value != value { try write(operation) }
  }

  private func merge(
    _ names: [String], _ operation: ModelOperation, _ numbers: Numbers, _ options: MergeOptions
  ) throws {
    var options = options
    (options.stores, options.chunkSize) = (operation.stores, pageSize)
    let devices = try names.map { try file($0).device }
    try interrupting(operation) { hooks throws(KeepsakeError) in
      _ = try Merge.run(devices, options: options, source: numbers.source, hooks: hooks)
    }
  }

  /// Lets others come between, or ends the process, as an operation says.
  func interrupting(
    _ operation: ModelOperation, _ body: (MergeHooks) throws(KeepsakeError) -> Void
  ) throws {
    var step = 0
    let crash = KeepsakeError(.inputOutput, path: "", "the process ends", cure: "")
    let hooks = MergeHooks { [self] boundary in
      step += 1
      for interruption in operation.between ?? [] where interruption.step == step {
        expect(interruption.name, boundary, step)
        do { try perform(interruption.operation) } catch {
          faults.append("\(interruption.operation.do): \(error)")
        }
      }
      guard operation.crash?.step == step else { return nil }
      expect(operation.crash?.name, boundary, step)
      return crash
    }
    do throws(KeepsakeError) {
      try body(hooks)
      if operation.crash != nil { faults.append("no boundary at which to crash") }
    } catch {
      if error.problem != crash.problem { throw error }
    }
  }

  private func expect(_ name: String?, _ boundary: MergeHooks.Boundary, _ step: Int) {
    if name == boundary.rawValue { return }
    faults.append("boundary \(step) is \(boundary.rawValue) instead of \(name ?? "none")")
  }

  private func repair(_ operation: ModelOperation, _ numbers: Numbers) throws {
    let device = try file(operation.file).device
    let now = device.clock.milliseconds
    let due = HybridTimestamp.horizon(now: now, skew: ClockRepair.tolerance)
    try device.tables.write { connection in
      if try ReplicaState(connection).last > due {
        _ = try connection.repairClock(at: now, after: due, as: numbers.replicaID())
      }
      return ((), [])
    }
  }

  private func newDevice(_ id: ReplicaID) throws -> Device {
    guard usesFiles else { return try Device.inMemory(identity: id, clock: clock.wallClock) }
    let folder = try TemporaryFolder()
    return try Device(
      path: folder.path + "/device", access: .create, busyTimeout: Device.defaultBusyTimeout,
      clock: clock.wallClock, folder: folder, identity: id)
  }

  private func copy(of device: Device) throws -> Device {
    let copy = try newDevice(.random())
    try copy.tables.attaching(device) { () throws(KeepsakeError) in
      try copy.tables.write { connection in
        for table in [
          "entry", "replica", "former_replica", "mark", "peer", "hub", "hub_held", "seen",
          "forgotten", "conflict",
        ] {
          try connection.run("DELETE FROM main.\(table)")
          try connection.run("INSERT INTO main.\(table) SELECT * FROM sender.\(table)")
        }
        return ((), [])
      }
    }
    return copy
  }
}

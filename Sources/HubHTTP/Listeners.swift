// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubServer
  import Synchronization

  /// One who waits for changes of an account.
  final class Listener: Sendable {
    let member: HubMember
    /// An element for whatever there is to look at; one waits at most, which stands for many.
    let wakes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    /// The last sequence number of the account. Never goes back, though calls may come late.
    private let seq = Mutex<Int64>(0)

    init(_ member: HubMember) {
      self.member = member
      (wakes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func hear(_ new: Int64) {
      seq.withLock { $0 = max($0, new) }
      continuation.yield()
    }

    var heard: Int64 { seq.withLock { $0 } }
    func wake() { continuation.yield() }
    func end() { continuation.finish() }
  }

  /// Who waits, by account.
  final class Listeners: Sendable {
    /// Held while a listener is found; what is called under it takes a listener's own lock, and
    /// never this one.
    private let all = Mutex<[Int64: [ObjectIdentifier: Listener]]>([:])
    private let metrics: HubMetrics

    init(_ metrics: HubMetrics) { self.metrics = metrics }

    /// - Returns: nil where the device has as many as it may.
    func add(_ member: HubMember, most: Int) -> Listener? {
      let made = all.withLock { all -> Listener? in
        let present = all[member.account, default: [:]].values
        guard present.count(where: { $0.member.number == member.number }) < most else { return nil }
        let listener = Listener(member)
        all[member.account, default: [:]][ObjectIdentifier(listener)] = listener
        return listener
      }
      if made != nil { metrics.listens(1) }
      return made
    }

    func remove(_ listener: Listener) {
      listener.end()
      metrics.listens(-1)
      all.withLock { all in
        all[listener.member.account]?[ObjectIdentifier(listener)] = nil
        if all[listener.member.account]?.isEmpty == true { all[listener.member.account] = nil }
      }
    }

    func tell(_ account: Int64, _ seq: Int64) {
      all.withLock { Array($0[account, default: [:]].values) }.forEach { $0.hear(seq) }
    }

    /// Ends those of a device, or of all devices of the account.
    func end(_ account: Int64, device: Int64? = nil) {
      let found = all.withLock { Array($0[account, default: [:]].values) }
      for listener in found where device == nil || listener.member.number == device {
        listener.end()
      }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if Hub
  package import KeepsakeHubServer
  import Synchronization

  /// One who waits for changes of an account.
  package final class Listener: Sendable {
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

    package var heard: Int64 { seq.withLock { $0 } }
    func wake() { continuation.yield() }
    func end() { continuation.finish() }
  }

  /// Who waits, by account, in the order in which they came.
  package final class Listeners: Sendable {
    /// Held while a listener is found; what is called under it takes a listener's own lock, and
    /// never this one.
    private let all = Mutex<[Int64: [Listener]]>([:])
    private let count: @Sendable (_ change: Double) -> Void

    /// - Parameter count: is called with 1 when a listener comes, and with -1 when it goes.
    package init(_ count: @escaping @Sendable (_ change: Double) -> Void) { self.count = count }

    /// Where the device has as many streams as it may, its oldest ends: most likely the device has
    /// left that one, and the hub has not noticed yet.
    package func add(_ member: HubMember, most: Int) -> Listener {
      let listener = Listener(member)
      let beyond = all.withLock { all in
        let present = all[member.account, default: []]
        all[member.account] = present + [listener]
        let own = present.filter { $0.member.number == member.number }
        return own.prefix(max(0, own.count + 1 - most))
      }
      count(1)
      beyond.forEach(remove)
      return listener
    }

    /// Also more than once: when its connection ends, and when its answer does.
    package func remove(_ listener: Listener) {
      listener.end()
      let account = listener.member.account
      let wasThere = all.withLock { all in
        guard var present = all[account],
          let place = present.firstIndex(where: { $0 === listener })
        else { return false }
        present.remove(at: place)
        all[account] = present.isEmpty ? nil : present
        return true
      }
      if wasThere { count(-1) }
    }

    package func tell(_ account: Int64, _ seq: Int64) {
      all.withLock { $0[account, default: []] }.forEach { $0.hear(seq) }
    }

    /// Ends those of a device, or of all devices of the account.
    func end(_ account: Int64, device: Int64? = nil) {
      let found = all.withLock { $0[account, default: []] }
      for listener in found where device == nil || listener.member.number == device {
        listener.end()
      }
    }
  }
#endif

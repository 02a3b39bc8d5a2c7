// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

// A meeting with a hub that stands as the device remembers it.
extension MergeRun {
  /// - Returns: false when the exchange has to go step by step.
  mutating func meetAsRemembered() throws(KeepsakeError) -> Bool {
    guard let hub = parties.last as? HubParty, let id = hub.lastMet else { return false }
    let file = FileParty(device: devices[0], takesLeases: true)
    stores = try MergedStores.of([file], only: options.stores)
    exchanges = [Exchange(parties, 0, 1, stores: stores)]
    guard try Recollection(of: id, stores, from: devices[0]).isOfPeer else { return false }
    // A device that cannot be written is found before the hub is.
    try devices[0].core.write { _ in ((), []) }
    try promote(0)
    for (from, into) in Self.directions(2) { report.expect(from: from, into: into) }
    var echo = EchoRange()
    // The first may only read; the third is for what another program writes meanwhile.
    for round in 0..<3 {
      let memory = try Recollection(of: id, stores, from: devices[0])
      guard memory.isOfPeer else { return false }
      if round > 0, !memory.hasNews { return try end(hub) }
      var request = HubRequest(
        device: memory.side.replica, stores: stores,
        recalled: HubRequest.Recollection(
          hub: id, peers: memory.side.memory, revocations: memory.revocations))
      var push: HubRequest.Push?
      if memory.hasNews {
        // An answer has told under which token the hub has read.
        guard round > 0 || memory.isSettled else { return false }
        let hubs =
          round > 0
          ? try hub.side(toward: memory.side.replica, stores).memory : memory.hubsMemory
        push = try self.push(memory, hubs, to: id, hub.limit, file, except: echo)
      }
      let token = newToken(after: memory.side.memory.map { $0.readToken?.round ?? 0 })
      let offer = HubRequest.Offer(
        token: token, memory: memory.side.memory, echo: EchoRange(), page: hub.limit)
      request.steps = (push.map { [.push($0)] } ?? []) + [.offer(offer)]
      guard let answer = try hub.meet(request) else { return false }
      guard answer.page != nil else { return try end(hub) }
      echo = try read(answer, token, memory, hub, file)
      if let push, let pushed = answer.pushed {
        report(push, pushed)
        try file.settle(stores, of: id, under: push.token, through: push.through)
      }
      if hub.page.hasMore { return false }
    }
    return false
  }

  private mutating func newToken(after rounds: [Int64]) -> ExchangeToken {
    ExchangeToken(after: rounds.max() ?? 0, using: &generator)
  }

  /// Offers the hub what it has not read, and takes down the first rows of that.
  ///
  /// - Parameters:
  ///   - memory: as the device stood when it was decided to.
  ///   - hubs: what the hub remembers of it.
  private mutating func push(
    _ memory: Recollection, _ hubs: [PeerState], to hub: ReplicaID, _ limit: HubRequest.PageLimit,
    _ file: FileParty, except echo: EchoRange
  ) throws(KeepsakeError) -> HubRequest.Push {
    if options.checksIntegrity {
      let (stores, size) = (stores, options.chunkSize)
      _ = try devices[0].checkWhole(remembers: true) { try Measurement($0, of: stores, size: size) }
    }
    let rounds = zip(memory.side.memory, hubs).map { max($0.round, $1.readToken?.round ?? 0) }
    let offer = try file.offer(
      newToken(after: rounds), to: hub, remembering: hubs, of: stores, ifIts: memory.side)
    let pull = Pull(
      sender: file, direction: (0, 1), senderID: memory.side.replica, stores: stores,
      cursors: hubs.map(\.cursor), measurement: nil, offer: offer, echo: echo, now: file.now,
      options: options, reason: .merge, needsReader: false)
    let place = hubs.map(\.cursor).min() ?? 0
    let rows = try Outgoing(of: pull, offer, after: place, for: hub, limit, from: devices[0])
    try rows.noteUnsent(of: pull, after: place, by: hub, on: devices[0])
    return HubRequest.Push(
      token: offer.token, through: rows.through, read: memory.side.memory.map(\.cursor),
      own: EchoRange(), rows: rows.rows, seen: rows.seen)
  }

  /// Reads what the hub has answered; of a push that is at least how far it goes.
  ///
  /// - Returns: what the hub need not get back.
  private mutating func read(
    _ answer: HubAnswer, _ token: ExchangeToken, _ memory: Recollection, _ hub: HubParty,
    _ file: FileParty
  ) throws(KeepsakeError) -> EchoRange {
    if options.checksIntegrity { try check() }
    var echo = EchoRange()
    if let pushed = answer.pushed, pushed.answered == 0 {
      echo = EchoRange(lower: pushed.before, upper: pushed.after)
    }
    let pull = Pull(
      sender: hub, direction: (1, 0), senderID: answer.hub, stores: stores,
      cursors: memory.side.memory.map(\.cursor), measurement: nil,
      offer: Pull.Offer(
        token: token, lseq: hub.page.hasMore ? hub.page.through : answer.seq,
        remembered: memory.side.memory.map(\.readToken)),
      echo: echo, now: file.now, options: options, reason: .merge, needsReader: false)
    var result = Pull.Result(changeLimit: options.changeLimit - report.changes.count)
    defer { report.add(result, from: 1, into: 0) }
    try file.read(pull, &result)
    return result.answered == 0 ? result.written : EchoRange()
  }

  private mutating func report(_ push: HubRequest.Push, _ pushed: HubAnswer.Pushed) {
    var result = Pull.Result(changeLimit: 0)
    result.received = push.rows.count
    (result.changed, result.held) = (pushed.changed, pushed.held)
    report.add(result, from: 0, into: 1)
  }

  /// - Returns: false when the hub has stores that the device does not know.
  private mutating func end(_ hub: HubParty) throws(KeepsakeError) -> Bool {
    let others = try options.stores == nil ? hub.syncedStores().subtracting(stores) : []
    guard others.isEmpty else { return false }
    try exchanges[0].note()
    try noteHub()
    report.waiting = try waiting()
    report.hasConverged = try haveConverged()
    return true
  }

  /// Lets the device know for certain under which token the hub has read: the next meeting may
  /// begin with that.
  func settle(_ exchange: Exchange) throws(KeepsakeError) {
    guard parties[exchange.right].isHub else { return }
    let (mine, hubs) = (try exchange.side(exchange.left), try exchange.side(exchange.right))
    let isOpen = zip(mine.memory, hubs.memory).contains {
      $0.token == $1.readToken && $0.theirRead != $0.token
    }
    guard isOpen, let token = mine.memory.first?.token,
      hubs.memory.allSatisfy({ $0.readToken == token })
    else { return }
    try FileParty(device: devices[exchange.left]).settle(
      stores, of: hubs.replica, under: token, through: hubs.memory.map(\.cursor).min() ?? 0)
  }
}

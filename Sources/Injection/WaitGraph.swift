// SPDX-License-Identifier: Apache-2.0

// Waits of constructions for each other, and cycles of such waits.

extension ConstructionFrame {
  /// Registers a wait for this frame; nil if `mayWait` is false and the frame is in progress.
  ///
  /// - Throws: `circular` for a cycle in which no frame has an early object to break it with.
  func join(mayWait: Bool = true) throws(InjectionError) -> Waiter? {
    let waiter = Waiter()
    return try ConstructionFrame.changing { deferred throws(InjectionError) -> Waiter? in
      while !isOver, built == nil, let cycle = waiter.frame?.waitPath(from: self) {
        if early != nil {
          serve(waiter)
          return waiter
        }
        guard let other = ConstructionFrame.breakCycle(cycle) else {
          throw ConstructionFrame.circular(cycle)
        }
        deferred.waiters.append(other)
      }
      if isOver { return waiter }
      if built != nil, waiter.frame?.enclosingShared != nil {
        serve(waiter)
        return waiter
      }
      guard mayWait || built != nil else { return nil }
      waiter.group.enter()
      waiters.append(waiter)
      return waiter
    }
  }

  /// Passes the early object to a waiter.
  func serve(_ waiter: Waiter) {
    waiter.early = early
    waiter.frame?.use(self)
  }

  /// The frames from `start` to this one, each waiting for the next; nil if there is no such path.
  private func waitPath(from start: ConstructionFrame) -> [ConstructionFrame]? {
    var visited: Set<ObjectIdentifier> = []
    func search(_ frame: ConstructionFrame) -> [ConstructionFrame]? {
      if frame === start { return [frame] }
      guard visited.insert(ObjectIdentifier(frame)).inserted else { return nil }
      for before in [frame.caller] + frame.waiters.map(\.frame) {
        if let path = before.flatMap(search) { return path + [frame] }
      }
      return nil
    }
    return search(self)
  }

  /// Breaks a cycle: passes to one of its waiters the early object of the frame that it waits for.
  ///
  /// - Returns: the waiter, for the caller to wake.
  private static func breakCycle(_ cycle: [ConstructionFrame]) -> Waiter? {
    for (before, frame) in zip(cycle, cycle.dropFirst()) where frame.early != nil {
      guard let index = frame.waiters.firstIndex(where: { $0.frame === before }) else { continue }
      let waiter = frame.waiters.remove(at: index)
      frame.serve(waiter)
      return waiter
    }
    return nil
  }

  /// The error of a cycle: each frame needs the next one, and the last one the first.
  ///
  /// If one frame has an early object, the error names it as the object to make first: its early
  /// object breaks the cycle for the others, which need it in their factories. Not if another frame
  /// is asynchronous.
  static func circular(_ cycle: [ConstructionFrame]) -> InjectionError {
    var error = InjectionError(
      .circular, path: (cycle + cycle.prefix(1)).compactMap(\.label))
    let first = cycle.first { $0.early != nil && $0.built == nil && $0.role == .shared }
    if let first, let entry = first.entry, let container = first.weakContainer,
      let retried = cycle.first(where: { cycle.last?.isWithin($0) ?? false }),
      cycle.allSatisfy({ $0 === first || $0.entry?.recipe.makeLater == nil })
    {
      error.prerequisite = InjectionError.Prerequisite(entry, in: container, for: retried)
    }
    return error
  }
}

// Two objects may need each other, one in its factory, the other in `then:`. If the second is
// looked up first, its early object serves the first. If the first is looked up first, it does not
// exist yet when `then:` of the second asks for it. Then both constructions fail, and the container
// makes the second object first, then the first one again. So the order of lookups and of
// registrations does not matter.

/// The retries of one construction: each other object is made first at most once.
struct CycleRetries {
  private var made: Set<ObjectIdentifier> = []

  /// Makes the object that an error of a construction names as its prerequisite.
  ///
  /// - Throws: `error` if it names none, or if that object was already made first; or the error of
  ///   making it.
  mutating func makePrerequisite(
    of error: any Error, at frame: ConstructionFrame
  ) throws {
    guard var circular = error as? InjectionError, let first = circular.prerequisite,
      first.frame === frame, let entry = first.entry, let container = first.container
    else { throw error }
    circular.prerequisite = nil
    guard made.insert(ObjectIdentifier(entry)).inserted else { throw circular }
    _ = try entry.read(for: container)
  }
}

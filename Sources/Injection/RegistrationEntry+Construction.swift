// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension RegistrationEntry {
  /// Wires and publishes an object from outside; nil removes it.
  ///
  /// Takes the claim from a construction, whose object is then discarded, but waits for another
  /// `set`. Also waits for the constructions whose incomplete objects the wiring used, unless this
  /// `set` is part of a construction, which then fails if they do.
  ///
  /// - Parameter kept: the object, or a weak reference to it.
  /// - Returns: false if another `set` has removed this registration.
  func set(_ new: AnyBox?, keeping kept: AnyBox?) throws -> Bool {
    guard let new, let kept else {
      remove()
      return true
    }
    let frame = ConstructionFrame(.setting, of: self, in: site)
    while let other = frame.overtake(self) {
      if try other.join()?.wait() != nil {
        throw InjectionError(.circular, path: [label, label])
      }
    }
    guard owner.locked({ _ in maker === frame }) else { return false }
    do {
      try ConstructionFrame.$current.withValue(frame) { try wire(new, by: frame, in: site) }
    } catch {
      frame.fail()
      throw error
    }
    guard !frame.end(kept), try frame.join()?.wait() == nil else { return true }
    // The object refers to one that was discarded.
    if ConstructionFrame.lock.withLock({ _ in frame.isInvalid }) {
      throw InjectionError(.circular, path: [label, label])
    }
    return true
  }

  /// Makes an object without keeping it.
  ///
  /// - Throws: `circular` for a recipe that depends on itself, `tooDeep` for one that makes itself
  ///   with other arguments too often.
  func makeUnshared(for asker: Container) throws -> AnyBox {
    var retries = CycleRetries()
    while true {
      var frame = ConstructionFrame(.unshared, of: self, in: asker)
      do {
        defer { ConstructionFrame.end(&frame) }
        try refuseRecursion(frame)
        return try construct(frame, in: asker)
      } catch {
        try retries.makePrerequisite(of: error, at: frame)
      }
    }
  }

  func refuseRecursion(_ frame: ConstructionFrame) throws(InjectionError) {
    guard let chain = frame.caller.map({ Array($0.chain) }) else { return }
    let own = chain.indices.filter { chain[$0].isOpen(of: self) }
    if let outer = own.first(where: { chain[$0].container === frame.container }) {
      let cycle = Array(chain[...outer].reversed())
      throw ConstructionFrame.lock.withLock { _ in ConstructionFrame.circular(cycle) }
    }
    // With other arguments the recursion may end, as for a tree; limit it before the stack does.
    if own.count > Self.maximumDepth { throw InjectionError(.tooDeep, path: [label]) }
  }

  /// The limit of a recipe's recursion with a new container each time.
  private static let maximumDepth = 30

  func construct(_ frame: ConstructionFrame, in container: Container) throws -> AnyBox {
    guard let make = recipe.make else { throw notReady }
    return try ConstructionFrame.$current.withValue(frame) {
      let made = try make(container)
      try wire(made, by: frame, in: container)
      return made
    }
  }

  func constructLater(
    _ frame: ConstructionFrame, in container: Container
  ) async throws -> AnyBox {
    guard let make = recipe.makeLater else { return try construct(frame, in: container) }
    return try await ConstructionFrame.$current.withValue(frame) {
      let made = try await make(container)
      try wire(made, by: frame, in: container)
      return made
    }
  }

  private func wire(
    _ made: AnyBox, by frame: ConstructionFrame, in container: Container
  ) throws {
    try container.admit(made)
    if frame.role != .unshared { ConstructionFrame.lock.withLock { _ in frame.early = made } }
    let injectable = injectable(made.content, isSet: frame.role == .setting)
    if let injectable { try container.fill(injectable) }
    try recipe.then?(made, container)
    injectable?.didInject()
  }

  /// Caches that a type does not conform, because that lookup costs more than everything else here.
  /// Not if the type may conform only on an actor: for `set`, and for a class with `@Injected`
  /// properties.
  private func injectable(_ content: Any, isSet: Bool) -> (any Injectable)? {
    let type = type(of: content)
    let id = Int(bitPattern: ObjectIdentifier(type))
    if !isSet, plainType.load(ordering: .relaxed) == id { return nil }
    if type is any Injectable.Type { return content as? any Injectable }
    if !isSet, !Container.hasInjected(content) { plainType.store(id, ordering: .relaxed) }
    return nil
  }

  /// The box to keep of a new object: for the scope `weak` one with a weak reference.
  func kept(_ made: AnyBox) throws(InjectionError) -> AnyBox {
    guard recipe.scope == .weak else { return made }
    if let weakly = made.weakly { return weakly }
    throw InjectionError(.notAClass, path: ConstructionFrame.path(to: recipe.key))
  }
}

// MARK: - Under the lock of frames, except `remove`

extension RegistrationEntry {
  /// Releases a frame's claim, and publishes its object if there is one.
  ///
  /// - Returns: what may be the last references.
  func conclude(_ frame: ConstructionFrame, publishing object: AnyBox?) -> [AnyBox?] {
    owner.locked { state -> [AnyBox?] in
      defer { state.discard(self) }
      let old = [given, made]
      if maker === frame {
        maker = nil
        if let object, frame.role == .setting { given = object }
        if let object, frame.role == .shared { (given, made) = (nil, object) }
      }
      return old + removeStaleConversions()
    }
  }

  /// Removes the conversions of objects that it no longer has.
  ///
  /// - Returns: what may be the last references.
  private func removeStaleConversions() -> [AnyBox?] {
    let sources = [given, made, maker?.early]
    let stale = conversions.filter { one in !sources.contains { $0 === one.source } }
    conversions.removeAll { one in !sources.contains { $0 === one.source } }
    return stale.flatMap { [$0.source, $0.result] }
  }

  /// Removes the object of `set`, and releases it without the lock.
  private func remove() {
    let old = ConstructionFrame.lock.withLock { _ in
      let isUnpublished = maker?.role == .setting && maker?.built != nil
      return owner.locked { state -> [AnyBox?] in
        defer { state.discard(self) }
        let old = given
        given = nil
        if isUnpublished { maker = nil }
        return [old] + removeStaleConversions()
      }
    }
    withExtendedLifetime(old) {}
  }
}

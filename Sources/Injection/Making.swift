// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Entry {
  /// Wires and publishes an object from outside; nil removes it.
  ///
  /// Takes the claim from a construction, whose object is then discarded, but waits for another
  /// `set`. Waits also for the constructions whose incomplete objects the wiring used, unless it is
  /// part of one: that one fails if they do.
  ///
  /// - Parameter kept: the object, or a weak reference to it.
  /// - Returns: false if another `set` has removed this registration.
  func set(_ new: AnyBox?, keeping kept: AnyBox?) throws -> Bool {
    guard let new, let kept else {
      remove()
      return true
    }
    let frame = Frame(.setting, self, site)
    while let other = frame.overtake(self) {
      if try other.join()?.wait() != nil { throw InjectionError.circular([label, label]) }
    }
    guard owner.locked({ _ in maker === frame }) else { return false }
    let wired = Result { try Frame.$current.withValue(frame) { try wire(new, frame, site) } }
    guard try !end(frame, wired.map { kept }), try frame.join()?.wait() == nil else { return true }
    // It refers to an object that was discarded.
    if Frame.lock.withLock({ _ in frame.isInvalid }) {
      throw InjectionError.circular([label, label])
    }
    return true
  }

  /// Makes an object without keeping it.
  ///
  /// - Throws: `circular` for a recipe that depends on itself, `tooDeep` for one that makes itself
  ///   with other arguments too often.
  func makeUnshared(for asker: Container) throws -> AnyBox {
    var detours = Detours()
    while true {
      var frame = Frame(.passing, self, asker)
      do {
        defer { Frame.end(&frame) }
        try refuseRecursion(frame)
        return try construct(frame, asker)
      } catch {
        try detours.take(error, at: frame)
      }
    }
  }

  func refuseRecursion(_ frame: Frame) throws(InjectionError) {
    guard let chain = frame.caller?.chain else { return }
    let own = chain.indices.filter { chain[$0].isOpen(of: self) }
    if let outer = own.first(where: { chain[$0].container === frame.container }) {
      throw Frame.circular(chain[...outer].reversed())
    }
    // With other arguments the recursion may end, as for a tree; limit it before the stack does.
    if own.count > Self.maximumDepth { throw .tooDeep(label) }
  }

  /// The limit of a recipe's recursion with a new container each time.
  private static let maximumDepth = 30

  func construct(_ frame: Frame, _ container: Container) throws -> AnyBox {
    guard let make = recipe.make else { throw notReady }
    return try Frame.$current.withValue(frame) {
      let made = try make(container)
      try wire(made, frame, container)
      return made
    }
  }

  func constructLater(
    _ frame: Frame, _ container: Container
  ) async -> Result<AnyBox, any Error> {
    guard let make = recipe.makeLater else { return Result { try construct(frame, container) } }
    return await Frame.$current.withValue(frame) {
      do {
        let made = try await make(container)
        try wire(made, frame, container)
        return .success(made)
      } catch {
        return .failure(error)
      }
    }
  }

  private func wire(_ made: AnyBox, _ frame: Frame, _ container: Container) throws {
    try container.admit(made)
    if frame.role != .passing { frame.publish(early: made) }
    let injectable = injectable(made.content, isSet: frame.role == .setting)
    if let injectable { try container.fill(injectable) }
    try recipe.then?(made, container)
    injectable?.didInject()
  }

  /// Caches the negative result, because the conformance lookup costs more than everything else
  /// here. Does not cache it where the object may conform only on an actor: for `set`, and for a
  /// class with `@Injected` properties.
  private func injectable(_ content: Any, isSet: Bool) -> (any Injectable)? {
    let type = type(of: content)
    let id = Int(bitPattern: ObjectIdentifier(type))
    if !isSet, plainType.load(ordering: .relaxed) == id { return nil }
    if type is any Injectable.Type { return content as? any Injectable }
    if !isSet, !Container.hasInjected(content) { plainType.store(id, ordering: .relaxed) }
    return nil
  }

  func kept(_ made: AnyBox) -> Result<AnyBox, any Error> {
    Result { recipe.scope == .weak ? try weakened(made) : made }
  }

  private func weakened(_ made: AnyBox) throws -> AnyBox {
    if let weakly = made.weakly { return weakly }
    throw InjectionError.notAClass(recipe.target)
  }

  /// Ends a construction.
  ///
  /// - Returns: whether its object is published; otherwise ask for it once more.
  func end(_ frame: Frame, _ result: Result<AnyBox, any Error>) throws -> Bool {
    switch result {
    case .success(let object): return frame.end(object)
    case .failure(let error):
      _ = frame.end(nil)
      throw error
    }
  }
}

// MARK: - Under the lock of frames

extension Entry {
  /// Releases a frame's claim, and publishes its object if there is one.
  ///
  /// - Returns: what may be the last references.
  func conclude(_ frame: Frame, _ object: AnyBox?) -> [AnyBox?] {
    owner.locked { state -> [AnyBox?] in
      defer { state.discard(self) }
      let old = (given, made)
      if maker === frame {
        maker = nil
        if let object, frame.role == .setting { given = object }
        if let object, frame.role == .making { (given, made) = (nil, object) }
      }
      return [old.0, old.1] + removeConversions(of: [old.0, old.1, frame.early])
    }
  }
}

// MARK: - Under the lock of the owner

extension Entry {
  /// Removes the conversions of objects that it no longer has.
  ///
  /// - Returns: what may be the last references.
  private func removeConversions(of former: [AnyBox?]) -> [AnyBox?] {
    let gone = former.filter { $0 !== given && $0 !== made }
    let removed = conversions.filter { conversion in gone.contains { $0 === conversion.source } }
    conversions.removeAll { conversion in gone.contains { $0 === conversion.source } }
    return removed.map(\.source) + removed.map(\.result)
  }

  /// Removes the object from outside; releases it without the lock.
  private func remove() {
    let old = Frame.lock.withLock { _ in
      let isUnpublished = maker?.role == .setting && maker?.built != nil
      return owner.locked { state -> [AnyBox?] in
        defer { state.discard(self) }
        let old = given
        given = nil
        if isUnpublished { maker = nil }
        return [old] + removeConversions(of: [old])
      }
    }
    withExtendedLifetime(old) {}
  }
}

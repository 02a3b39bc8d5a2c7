// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Entry {
  /// Wires and publishes an object from outside; nil removes it.
  ///
  /// Takes the claim from a construction, whose object is then discarded, but waits for another
  /// `set`.
  func set(_ new: AnyBox?, weakly: Bool) throws {
    guard let new else { return forgetting { given = nil } }
    let value = weakly ? try weakened(new) : new
    let frame = Frame(.setting, self, site)
    let other = { [self] in
      owner.locked { _ in
        defer { if maker?.role != .setting { maker = frame } }
        return maker
      }
    }
    var previous = other()
    while let setting = previous, setting.role == .setting {
      if try setting.join()?.wait() != nil { throw InjectionError.circular([label, label]) }
      previous = other()
    }
    defer { previous?.dismissWaiters() }
    let wired = Result { try Frame.$current.withValue(frame) { try wire(new, frame, site) } }
    _ = try conclude(frame, wired.map { value })
  }

  /// Makes an object without keeping it.
  ///
  /// - Throws: `circular` for a recipe that depends on itself, which would recurse without end.
  func makeUnshared(for asker: Container) throws -> AnyBox {
    var detours = Detours()
    while true {
      let frame = Frame(.passing, self, asker)
      let made = Result {
        defer { frame.close() }
        try refuseRecursion(frame)
        return try construct(frame, asker)
      }
      do { return try made.get() } catch { try detours.take(error, at: frame) }
    }
  }

  private func refuseRecursion(_ frame: Frame) throws(InjectionError) {
    let chain = frame.caller?.chain ?? []
    let own = chain.indices.filter { chain[$0].entry === self && !chain[$0].isOver }
    if let outer = own.first(where: { chain[$0].container === frame.container }) {
      throw Frame.circular(chain[...outer].reversed())
    }
    // With other arguments the recursion may end, as for a tree; limit it before the stack does.
    if let outer = own.dropFirst(Self.maximumDepth).first {
      throw .circular(chain[...outer].reversed().compactMap(\.label) + [label])
    }
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
    if frame.role != .passing { frame.publish(early: made) }
    let injectable = injectable(made.content, isSet: frame.role == .setting)
    if let injectable { try container.fill(injectable) }
    try recipe.then?(made, container)
    injectable?.didInject()
  }

  /// Caches the negative result, because the conformance lookup costs more than everything else
  /// here. Does not cache it for `set`: the object may conform only on an actor.
  private func injectable(_ content: Any, isSet: Bool) -> (any Injectable)? {
    let type = type(of: content)
    let id = Int(bitPattern: ObjectIdentifier(type))
    if !isSet, plainType.load(ordering: .relaxed) == id { return nil }
    if type is any Injectable.Type { return content as? any Injectable }
    if !isSet { plainType.store(id, ordering: .relaxed) }
    return nil
  }

  func kept(_ made: AnyBox) -> Result<AnyBox?, any Error> {
    Result { recipe.scope == .weak ? try weakened(made) : made }
  }

  private func weakened(_ made: AnyBox) throws -> AnyBox {
    if let weakly = made.weakly { return weakly }
    throw InjectionError.notAClass(recipe.target)
  }

  /// Ends a construction: publishes the object, or releases the claim after a failure.
  ///
  /// - Returns: false if a `set` has taken the claim.
  func conclude(_ frame: Frame, _ result: Result<AnyBox?, any Error>) throws -> Bool {
    let isKept = forgetting { () -> Bool in
      guard maker === frame else { return false }
      maker = nil
      guard case .success(let new) = result, !frame.isInvalid else { return false }
      if frame.role == .setting { given = new } else { (given, made) = (nil, new) }
      return true
    }
    frame.end(failed: !isKept)
    _ = try result.get()
    return isKept
  }

  /// Discards an object that refers to one whose construction failed.
  func drop() { forgetting { made = nil } }

  /// Changes the objects under the lock and releases the old ones after it.
  private func forgetting<R: Sendable>(_ change: () -> R) -> R {
    let (result, old) = owner.locked { _ in
      let old = (given, made, converted)
      let result = change()
      if given !== old.0 || made !== old.1 { converted = [:] }
      return (result, old)
    }
    return withExtendedLifetime(old) { result }
  }
}

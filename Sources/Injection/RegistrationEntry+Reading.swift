// SPDX-License-Identifier: Apache-2.0

extension RegistrationEntry {
  /// Returns the object and makes it if necessary; nil if there is no recipe and it is not set.
  func read(for asker: Container, new: Bool = false) throws -> AnyBox? {
    let isUnshared = new || recipe.scope == .transient
    var retries = CycleRetries()
    while true {
      switch claim(new: new, mayMake: !isUnshared && recipe.make != nil) {
      case .made(let made): return made
      case .claimed(let frame):
        do {
          let made = try construct(frame, in: site)
          if frame.end(try kept(made)) { return made }
        } catch {
          frame.fail()
          try retries.makePrerequisite(of: error, at: frame)
        }
      case .busy(let frame):
        let mayWait = frame.role == .setting || recipe.makeLater == nil
        guard let waiter = try frame.join(mayWait: mayWait) else { throw notReady }
        if let early = waiter.wait() { return early }
      case .unavailable:
        guard let base else { return recipe.isGiven ? nil : try makeUnshared(for: asker) }
        for holder in new ? [base] : asker.replacements(of: base) + [base] {
          let object = try holder.read(for: asker, new: new)
          if let object { return try convert(object, of: holder, for: asker) }
        }
        return nil
      }
    }
  }

  /// Makes a singleton if necessary, also by an asynchronous recipe.
  ///
  /// - Parameter container: its `site`, which the caller keeps.
  func prepare(in container: Container) async throws {
    var retries = CycleRetries()
    while true {
      switch claim(mayMake: recipe.make != nil || recipe.makeLater != nil) {
      case .made, .unavailable: return
      case .claimed(let frame):
        do {
          if frame.end(try await kept(constructLater(frame, in: container))) { return }
        } catch {
          frame.fail()
          try retries.makePrerequisite(of: error, at: frame)
        }
      case .busy(let frame):
        if try await frame.join()?.suspend() != nil { return }
      }
    }
  }

  private enum Claim {
    case made(AnyBox), claimed(ConstructionFrame), busy(ConstructionFrame), unavailable
  }

  private func claim(new: Bool = false, mayMake: Bool) -> Claim {
    let (made, other) = owner.locked { _ in (new ? nil : current, new ? nil : maker) }
    // During a `set` lookups return the old object, except those by the wiring of the new one.
    let isWithinOther = other.flatMap { ConstructionFrame.live?.isWithin($0) } ?? false
    if let made, !isWithinOther { return .made(made) }
    if let other { return .busy(other) }
    guard mayMake else { return .unavailable }
    let frame = ConstructionFrame(.shared, of: self, in: site)
    return ConstructionFrame.lock.withLock { _ in
      owner.locked { _ in
        if let made = current { return .made(made) }
        if let maker { return .busy(maker) }
        maker = frame
        return .claimed(frame)
      }
    }
  }

  /// The object of this alias for an object of its base, or of the entry that replaces its base:
  /// always the same one, as long as the holder has that object.
  private func convert(
    _ source: AnyBox, of holder: RegistrationEntry, for asker: Container
  ) throws -> AnyBox {
    guard let convert = recipe.convert else { return source }
    if let known = holder.owner.locked({ _ in holder.conversion(of: source, for: self) }) {
      return known
    }
    var frame = ConstructionFrame(.unshared, of: self, in: asker)
    defer { ConstructionFrame.end(&frame) }
    try refuseRecursion(frame)
    let new = try ConstructionFrame.$current.withValue(frame) {
      let new = convert(source)
      try asker.admit(new)
      return new
    }
    return ConstructionFrame.lock.withLock { _ in
      let isEarly = holder.maker?.early === source
      return holder.owner.locked { _ in
        if let known = holder.conversion(of: source, for: self) { return known }
        guard isEarly || source === holder.given || source === holder.made else { return new }
        holder.conversions.append(Conversion(alias: self, source: source, result: new))
        if holder === base { settle() }
        return new
      }
    }
  }

  var notReady: InjectionError {
    InjectionError(
      .notReady, path: ConstructionFrame.path(to: recipe.key),
      prerequisite: InjectionError.Prerequisite(self, in: site))
  }
}

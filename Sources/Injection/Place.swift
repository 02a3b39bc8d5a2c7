// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Where the one object of an entry lives, and who is making it.
//
// - Whoever claims the place (`maker`) makes the object with no lock held, shows it as `early`
//   while it is wired, and releases the place, with the object or without. Others wait for this
//   place alone.
// - `early` is shown only to the constructions that the maker itself started, and to one that would
//   otherwise close a loop with it.
// - `made` is what `state` keeps, for readers that take no lock; `set` withdraws it for good.
// - A `set` takes a claim over; the maker that it overtook drops its object and takes the set one.
// - No foreign code runs under the lock, not even a deinit: replaced values leave it first.

final class Place: Sendable {
  struct State {
    var kept: Kept?
    /// The value was set from outside, not made.
    var isSet = false
    fileprivate var maker: Frame?
    fileprivate var early: AnyBox?
    fileprivate var waiters: [@Sendable () -> Void] = []
  }

  enum Step {
    case value(AnyBox), mine, theirs(Frame), nothing
  }

  let made = Published<AnyBox>()
  private let state = Mutex(State())

  /// Whether there is a value, and whether it was set.
  var status: (isThere: Bool, isSet: Bool) {
    let (kept, isSet) = state.withLock { ($0.kept, $0.isSet) }
    return (kept?.box != nil, isSet)
  }

  /// Finds the value, or who makes it; else claims the place for `frame` if it `mayMake` it.
  func claim(for frame: Frame, mayMake: Bool) throws -> Step {
    try state.withLock { state in
      if let maker = state.maker, frame.isInside(maker) {
        if let early = state.early { return .value(early) }
        throw InjectionError.circular(frame.path(from: maker))
      }
      if let box = state.kept?.box { return .value(box) }
      if let maker = state.maker { return .theirs(maker) }
      guard mayMake else { return .nothing }
      state.maker = frame
      return .mine
    }
  }

  /// Claims the place for a `set`, whoever has it.
  func overtake(by frame: Frame) {
    let early = state.withLock { state in
      defer { (state.maker, state.early) = (frame, nil) }
      return state.early
    }
    withExtendedLifetime(early) {}
  }

  func show(_ box: AnyBox, by frame: Frame) {
    state.withLock { if $0.maker === frame { $0.early = box } }
  }

  /// Ends a claim and wakes everybody who waits. False: the claim had been taken over.
  @discardableResult
  func release(_ frame: Frame, _ publish: (inout State) -> Void = { _ in }) -> Bool {
    let old: State? = state.withLock { state in
      guard state.maker === frame else { return nil }
      let old = state
      publish(&state)
      (state.maker, state.early, state.waiters) = (nil, nil, [])
      return old
    }
    old?.waiters.forEach { $0() }
    return old != nil
  }

  /// Notes that this thread or task waits for `maker`. If that closed a loop, the early object or
  /// an error ends it.
  func beginWait(for maker: Frame) throws -> AnyBox? {
    guard let waiter = Frame.current, let loop = Waits.begin(waiter, maker) else { return nil }
    let early = state.withLock { $0.maker === maker ? $0.early : nil }
    if let early { return early }
    throw InjectionError.circular(loop)
  }

  func endWait(for maker: Frame) {
    if let waiter = Frame.current { Waits.end(waiter, maker) }
  }

  func whenReleased(by maker: Frame, _ wake: @escaping @Sendable () -> Void) {
    let isReleased = state.withLock { state in
      if state.maker === maker { state.waiters.append(wake) }
      return state.maker !== maker
    }
    if isReleased { wake() }
  }
}

// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeHubServer

/// Makes a history that fails smaller, as long as it fails: by steps (delta debugging, Zeller and
/// Hildebrandt, 2002), by devices, by what is special about an exchange, by the size of a chunk.
package struct Shrinker {
  /// How many histories are played at most.
  package var patience: Int
  private let makeHub: HubMaker
  private(set) package var history: History
  private(set) package var failure: Failure

  /// - Parameters:
  ///   - patience: how many histories are played at most.
  ///   - makeHub: makes the hub of each, if it has one.
  package init(
    _ history: History, _ failure: Failure, patience: Int = 2000,
    on makeHub: @escaping HubMaker = { MemoryHub($0) }
  ) {
    self.makeHub = makeHub
    self.history = history
    self.failure = failure
    self.patience = patience
  }

  package mutating func run() {
    if let step = failure.step {
      tryInstead { $0.steps.removeSubrange((step + 1)...) }
    }
    var hasShrunk = true
    while hasShrunk, patience > 0 {
      let before = history
      dropSteps()
      dropDevices()
      simplifyExchanges()
      tryInstead { $0.chunkSize = 1000 }
      tryInstead { $0.storage = .memory }
      hasShrunk = history != before
    }
  }

  /// Takes a change if what is left still fails.
  @discardableResult
  private mutating func tryInstead(_ change: (inout History) -> Void) -> Bool {
    var candidate = history
    change(&candidate)
    guard candidate != history, patience > 0 else { return false }
    patience -= 1
    do {
      try candidate.play(on: makeHub)
      return false
    } catch {
      (history, failure) = (candidate, error)
      return true
    }
  }

  private mutating func dropSteps() {
    var size = history.steps.count
    while size > 0 {
      var start = 0
      while start < history.steps.count {
        let end = min(start + size, history.steps.count)
        if !tryInstead({ $0.steps.removeSubrange(start..<end) }) { start = end }
      }
      size /= 2
    }
  }

  private mutating func dropDevices() {
    let first = history.hasHub ? 1 : 0
    for place in (first..<history.count).reversed() where history.count > 2 {
      tryInstead { $0.remove(place) }
    }
  }

  private mutating func simplifyExchanges() {
    for index in history.steps.indices {
      simplify(index) { $0.crash = nil }
      simplify(index) { $0.fault = nil }
      simplify(index) { $0.during = nil }
      simplify(index) { $0.isOneWay = false }
      simplify(index) { $0.stores = nil }
      guard case .meet(let encounter) = history.steps[index] else { continue }
      for place in encounter.places {
        simplify(index) { if $0.places.count > 2 { $0.places.removeAll { $0 == place } } }
      }
    }
  }

  private mutating func simplify(_ index: Int, _ change: (inout Encounter) -> Void) {
    tryInstead {
      guard case .meet(var encounter) = $0.steps[index] else { return }
      change(&encounter)
      $0.steps[index] = .meet(encounter)
    }
  }
}

extension History {
  /// Takes away a device, and what only it does.
  fileprivate mutating func remove(_ place: Int) {
    count -= 1
    steps = steps.compactMap { $0.without(place) }
  }
}

extension Step {
  /// The same among devices of which one is gone; nil when it was about that one.
  fileprivate func without(_ place: Int) -> Step? {
    func moved(_ other: Int) -> Int { other > place ? other - 1 : other }
    if case .meet(var encounter) = self {
      encounter.places = encounter.places.filter { $0 != place }.map(moved)
      guard encounter.places.count >= 2 else { return nil }
      encounter.during = encounter.during.flatMap { during in
        during.step.without(place).map { Encounter.During(after: during.after, step: $0) }
      }
      return .meet(encounter)
    }
    if places?.contains(place) == true { return nil }
    switch self {
    case .write(let place, let address, let value): return .write(moved(place), address, value)
    case .skew(let place, let time): return .skew(moved(place), milliseconds: time)
    case .freeze(let place): return .freeze(moved(place))
    case .thaw(let place): return .thaw(moved(place))
    case .save(let place, let number): return .save(moved(place), as: number)
    case .restore(let place, let number): return .restore(moved(place), from: number)
    case .copy(let place, let other): return .copy(moved(place), over: moved(other))
    case .compact(let place): return .compact(moved(place))
    case .retire(let place, let other): return .retire(moved(place), moved(other))
    case .reopen(let place): return .reopen(moved(place))
    case .meet, .pass: return self
    }
  }
}

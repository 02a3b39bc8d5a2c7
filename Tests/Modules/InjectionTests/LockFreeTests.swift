// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeInjection
import Synchronization
import Testing

extension Container.Key where Value == RealAPI {
  fileprivate static var main: Self { Self("main") }
  fileprivate static var backup: Self { Self("backup") }
}

/// Lookups of singletons that exist take no lock, and see every change all the same.
@Suite(.timeLimit(hang)) struct LockFreeTests {
  private let container: Container

  init() {
    container = twoAPIs()
    container.register(using: { (api: any API) in Shop(api: api) })
  }

  /// Whether a lookup ends while this thread has the locks of the containers; `limit` bounds the
  /// wait for one that does not.
  private func isLockFree(
    _ containers: [Container], limit: DispatchTimeInterval = .seconds(60),
    _ lookup: @escaping @Sendable () throws -> Void
  ) -> Bool {
    let found = DispatchSemaphore(value: 0)
    var isFound = false
    func locked(_ rest: ArraySlice<Container>) {
      if let first = rest.first { return first.whileLocked { locked(rest.dropFirst()) } }
      DispatchQueue.global().async {
        do {
          try lookup()
          found.signal()
        } catch {}
      }
      isFound = found.wait(timeout: .now() + limit) == .success
    }
    locked(containers[...])
    return isFound
  }

  private func everyLookup(_ c: Container) -> [@Sendable () throws -> Void] {
    [
      { _ = try c.get(RealKey()) }, { _ = try c.get(.main) }, { _ = try c.find(.backup) },
      { _ = try c.get(APIKey()) }, { _ = try c.get(APIKey("spare")) },
      { _ = try c.get(Container.Key<Shop>()) },
    ]
  }

  @Test func aSingletonThatExistsIsFoundWithoutALock() throws {
    let c = container
    #expect(!isLockFree([c], limit: .milliseconds(10)) { _ = try c.get(RealKey()) })
    for lookup in everyLookup(container) {
      try lookup()
      #expect(isLockFree([container], lookup))
    }
  }

  @Test func aChildFindsWhatItsParentHasWithoutALock() throws {
    let child = container.child()
    child.register { _ in "the child's own" }
    let grandchild = child.child()
    for lookup in everyLookup(grandchild) {
      try lookup()
      #expect(isLockFree([grandchild, child, container], lookup))
    }
  }

  @Test func aSetInAChildMattersToThatChildAlone() throws {
    let c = container
    for lookup in everyLookup(c) { try lookup() }
    let child = try c.child { try $0.set(RealAPI(host: "set"), for: .backup) }
    child.register { _ in "the child's own" }
    #expect(try child.get(Container.Key<String>()) == "the child's own")
    #expect(try child.get(.backup).host == "set")
    #expect(try child.get(APIKey("spare")).host == "set")
    #expect(isLockFree([child]) { _ = try child.get(Container.Key<String>()) })
    #expect(isLockFree([container]) { _ = try c.get(APIKey("spare")) })
    try child.set(nil, for: .backup)
    #expect(isLockFree([child, container]) { _ = try child.get(APIKey("spare")) })
  }

  @Test func anAliasThatItsOwnConstructionUsedIsFoundWithoutALock() throws {
    let container = Container { c in
      c.register(make: { _ in RealAPI() }) { _, c in _ = try c.get(APIKey()) }
        .as(APIKey()) { $0 }
    }
    _ = try container.get(RealKey())
    #expect(isLockFree([container]) { _ = try container.get(APIKey()) })
  }

  @Test func everyChangeIsSeenByTheNextLookup() throws {
    let c = container
    let main: RealAPI = try container.get()
    #expect(try container.get(APIKey()) as? RealAPI === main)
    for host in ["one", "two"] {
      try container.set(RealAPI(host: host))
      #expect(try container.get(RealKey()).host == host)
      #expect(try container.get(APIKey()).host == host)
    }
    try container.set(MockAPI(), for: APIKey())
    #expect(try container.get(APIKey()).host == "mock")
    try container.set(nil, for: RealKey())
    #expect(try container.get(.main) === main)
    #expect(try container.get(APIKey()).host == "mock")
    try container.set(nil, for: APIKey())
    #expect(try container.get(APIKey()) as? RealAPI === main)
    #expect(isLockFree([container]) { _ = try c.get(APIKey()) })
    container.register(Container.Key("third"), primary: true) { _ in RealAPI(host: "third") }
    #expect(injectionError { _ = try container.get(RealKey()) }?.code == .ambiguous)
    #expect(try container.get(.main) === main)
  }

  @Test func aLaterKeyOfTheChildComesFirst() throws {
    let child = container.child()
    #expect(try child.get(APIKey()).host == "main")
    child.register { _ in MockAPI() }.as(APIKey()) { $0 }
    #expect(try child.get(APIKey()).host == "mock")
    #expect(try container.get(APIKey()).host == "main")
  }

  @Test func anAliasThatIsAddedLaterFollowsASetOfTheChild() throws {
    let parent = Container()
    let registration = parent.register { _ in RealAPI() }
    let child = try parent.child { try $0.set(RealAPI(host: "set")) }
    registration.as(APIKey()) { $0 }
    #expect(try parent.get(APIKey()).host == "real")
    #expect(try child.get(APIKey()).host == "set")
  }

  @Test func everyOneOfManyKeysIsFound() throws {
    let many = Container()
    for number in 0..<2000 { many.register(Container.Key("\(number)")) { _ in number } }
    for _ in 1...2 {
      for number in 0..<2000 { #expect(try many.get(Container.Key<Int>("\(number)")) == number) }
    }
    #expect(isLockFree([many]) { _ = try many.get(Container.Key<Int>("1234")) })
    #expect(try many.find(Container.Key<Int>("2000")) == nil)
  }

  /// Whichever thread releases a container last, its objects and those of its children are good.
  @Test func aContainerMayGoWhileThreadsLookUp() async throws {
    for round in 0..<200 {
      let slot = Mutex<Container?>(
        Container { c in
          c.register(.main) { _ in RealAPI(host: "main") }.as(APIKey()) { $0 }
          c.register(using: { (api: any API) in Shop(api: api) })
        })
      let results = await onThreads(4) { index -> Bool in
        var hosts: Set<String> = []
        while let container = slot.withLock({ $0 }) {
          let child = container.child()
          hosts.insert(try child.get(Container.Key<Shop>()).api.host)
          if index == 1 {
            try child.set(RealAPI(host: "set"), for: .main)
            try container.set(RealAPI(host: "set"), for: .main)
            try container.set(nil, for: .main)
          }
          hosts.insert(try child.get(APIKey()).host)
          if index == 0 {
            for _ in 0..<round { _ = try container.get(.main) }
            slot.withLock { $0 = nil }
          }
        }
        return hosts.isSubset(of: ["main", "set"])
      }
      for result in results { #expect(try result.get()) }
    }
  }

  @Test func threadsThatLookUpSeeOnlyWhatWasInForce() async throws {
    let main: RealAPI = try container.get()
    let done = Latch()
    let results = await onThreads(4) { [container] index -> Bool in
      if index == 0 {
        defer { done.open() }
        for number in 0..<2000 {
          let set = RealAPI(host: "set")
          try container.set(set)
          guard try container.get(APIKey()) as? RealAPI === set else { return false }
          try container.set(nil, for: .main)
          guard try container.get(.main) === main else { return false }
          if number.isMultiple(of: 50) {
            container.register(Container.Key("other \(number)")) { _ in number }
          }
        }
        return true
      }
      while !done.isOpen {
        let (api, alias) = (try container.get(RealKey()), try container.get(APIKey()))
        guard api === main || api.host == "set" else { return false }
        guard alias as? RealAPI === main || alias.host == "set" else { return false }
      }
      return true
    }
    for result in results { #expect(try result.get()) }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeInjection
import Synchronization
import Testing

/// So that a test that hangs is named in the end; no claim: tests wait for their turn.
let hang = TimeLimitTrait.Duration.minutes(30)

protocol API: Sendable {
  var host: String { get }
}

final class RealAPI: API {
  let host: String
  init() { host = "real" }
  init(host: String) { self.host = host }
}

final class MockAPI: API {
  let host = "mock"
}

typealias RealKey = Container.Key<RealAPI>
typealias APIKey = Container.Key<any API>
typealias NodeKey = Container.Key<Node>
typealias OtherKey = Container.Key<Other>

/// A container of two objects of one type, each with an alias.
func twoAPIs() -> Container {
  Container { c in
    c.register(RealKey("main"), primary: true) { _ in RealAPI(host: "main") }.as(APIKey()) { $0 }
    c.register(RealKey("backup")) { _ in RealAPI(host: "backup") }.as(APIKey("spare")) { $0 }
  }
}

class Vehicle: @unchecked Sendable {  // Sendable: it has no state.
}

final class Car: Vehicle, @unchecked Sendable {  // Sendable: it has no state.
}

final class Shop: Sendable {
  let api: any API
  init(api: any API) { self.api = api }
}

/// Two that can know each other, linked late.
final class Node: Sendable {
  let peer = Mutex<Node?>(nil)
}

final class Other: Sendable {
  let node: Mutex<Node?>
  init(_ node: Node? = nil) { self.node = Mutex(node) }
}

/// Does something when it is injected.
final class Told: Injectable, Sendable {
  private let action: @Sendable () -> Void
  init(_ action: @escaping @Sendable () -> Void) { self.action = action }
  func didInject() { action() }
}

struct Failure: Error {}

final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  @discardableResult
  func up() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}

final class Log: Sendable {
  private let content = Mutex<[String]>([])
  var lines: [String] { content.withLock { $0 } }
  func add(_ line: String) { content.withLock { $0.append(line) } }
}

/// Closed until opened; a thread or a task can wait.
final class Latch: Sendable {
  private let opened = Atomic(false)
  private let semaphore = DispatchSemaphore(value: 0)

  var isOpen: Bool { opened.load(ordering: .sequentiallyConsistent) }

  func open() {
    opened.store(true, ordering: .sequentiallyConsistent)
    semaphore.signal()
  }

  /// Blocks a thread that the test started itself.
  func wait() {
    semaphore.wait()
    semaphore.signal()
  }

  /// Blocks a thread for so long that another one could have opened it, if nothing holds that up.
  func waitAWhile() {
    for _ in 0..<200_000 where !isOpen { _ = Task.isCancelled }
  }

  func yieldUntilOpen() async {
    while !isOpen { await Task.yield() }
  }
}

/// Runs `body` on so many threads at once; what each came to, by index.
///
/// Expectations belong after the call: on these threads nobody knows which test they are for.
func onThreads<R: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> R
) async -> [Result<R, any Error>] {
  let results = Mutex<[Int: Result<R, any Error>]>([:])
  let (group, start) = (DispatchGroup(), Latch())
  for index in 0..<count {
    DispatchQueue(label: "thread \(index)").async(group: group) {
      start.wait()
      let result = Result { try body(index) }
      results.withLock { $0[index] = result }
    }
  }
  start.open()
  await withCheckedContinuation { done in
    group.notify(queue: .global()) { done.resume() }
  }
  return results.withLock { results in (0..<count).compactMap { results[$0] } }
}

extension Result where Failure == any Error {
  var injectionError: InjectionError? {
    if case .failure(let error) = self { return error as? InjectionError }
    return nil
  }
}

/// The error that `body` throws.
func injectionError(_ body: () throws -> Void) -> InjectionError? {
  #expect(throws: InjectionError.self, performing: body)
}

func injectionError(_ body: () async throws -> Void) async -> InjectionError? {
  do {
    try await body()
    Issue.record("nothing was thrown")
  } catch let error as InjectionError {
    return error
  } catch {
    Issue.record("\(error) was thrown")
  }
  return nil
}

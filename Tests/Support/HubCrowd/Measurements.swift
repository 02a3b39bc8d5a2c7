// SPDX-License-Identifier: Apache-2.0
//
// Figures of a hub that has no accounts yet: nanoseconds.

package enum Measurements {
  /// - Parameter kind: `pushes`, `push`, `up`, `down` or `nothing`.
  package static func measure(
    _ kind: String, of hub: any AnsweringHub, _ count: Int
  ) throws -> Double {
    switch kind {
    case "pushes": try pushes(hub, count)
    case "push": try push(hub, count)
    case "up": try up(hub, count)
    case "down": try down(hub, count)
    case "nothing": try nothing(hub, count)
    default: throw Failure("\(kind) is none of the kinds")
    }
  }

  package static func nanoseconds(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    let time = start.duration(to: .now).components
    return (Double(time.seconds) * 1e9 + Double(time.attoseconds) / 1e9) / Double(count)
  }

  /// A push of 10 rows at random over 1,000 accounts, 64 of them under way.
  private static func pushes(_ hub: any AnsweringHub, _ count: Int) throws -> Double {
    let crowd = try Crowd(hub, accounts: 1_000, rows: 10, seed: 1)
    try crowd.push(2_000, atOnce: 64)
    return try nanoseconds(count) { try crowd.push(count, atOnce: 64) }
  }

  /// A push of one row, alone.
  private static func push(_ hub: any AnsweringHub, _ count: Int) throws -> Double {
    let crowd = try Crowd(hub, accounts: 100, rows: 1, seed: 1)
    try crowd.push(100, atOnce: 1)
    return try nanoseconds(count) { try crowd.push(count, atOnce: 1) }
  }

  private static func fill(_ hub: any AnsweringHub, _ count: Int) throws -> Pusher {
    try hub.addAccounts(1)
    var pusher = Pusher(account: 1, id: 7)
    pusher.heard(try hub.ask(1, pusher.look))
    let value = String(repeating: "v", count: 80)
    for start in stride(from: 0, to: count, by: 1_000) {
      pusher.heard(try hub.ask(1, pusher.push(start..<min(start + 1_000, count), value)))
    }
    return pusher
  }

  /// All rows of an account, page by page.
  private static func up(_ hub: any AnsweringHub, _ count: Int) throws -> Double {
    try nanoseconds(1) { _ = try fill(hub, count) }
  }

  private static func down(_ hub: any AnsweringHub, _ count: Int) throws -> Double {
    _ = try fill(hub, count)
    var reader = Pusher(account: 1, id: 8)
    return try nanoseconds(1) {
      reader.heard(try hub.ask(1, reader.look))
      var (place, rows, hasMore) = (Int64(0), 0, true)
      while hasMore {
        let answer = try hub.ask(1, reader.page(after: place))
        reader.heard(answer)
        guard let page = answer.page else { throw Failure("there is no page") }
        rows += page.rows.count
        (place, hasMore) = (page.through, page.hasMore)
      }
      guard rows == count else { throw Failure("\(rows) rows came, not \(count)") }
    }
  }

  /// A request without news over so many rows.
  private static func nothing(_ hub: any AnsweringHub, _ count: Int) throws -> Double {
    let pusher = try fill(hub, count)
    return try nanoseconds(1_000) { for _ in 0..<1_000 { _ = try hub.ask(1, pusher.look) } }
  }
}

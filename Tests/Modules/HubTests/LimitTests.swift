// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import HubStoreSupport
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import KeepsakeValues
  import Testing

  /// Each limit accepts what is at its edge, and names itself in the answer to what is beyond.
  @Suite struct LimitTests {
    struct Edge: Sendable, CustomTestStringConvertible {
      let limit: String
      let value: Int
      let accepted: String
      let refused: String
      var status = 413

      var testDescription: String { limit }
    }

    private static func lines(
      _ keys: [String], row: String = "1", mark: String = "m", vectors: String = "{}"
    ) -> String {
      #"{"rows":\#(keys.count),"mark":"\#(mark)","vectors":\#(vectors)}"# + "\n"
        + keys.map { #"{"key":"\#($0)","row":\#(row)}"# + "\n" }.joined()
    }

    static let pushes = [
      Edge(
        limit: "rows", value: 2, accepted: lines(["a", "b"]), refused: lines(["c"]), status: 507),
      Edge(
        limit: "bytes", value: 4, accepted: lines(["a", "b"]), refused: lines(["a"], row: "12"),
        status: 507),
      Edge(limit: "keyBytes", value: 3, accepted: lines(["abc"]), refused: lines(["abcd"])),
      Edge(
        limit: "rowBytes", value: 3, accepted: lines(["a"], row: "123"),
        refused: lines(["a"], row: "1234")),
      Edge(
        limit: "pageRows", value: 2, accepted: lines(["a", "b"]), refused: lines(["a", "b", "c"])),
      Edge(
        limit: "vectorBytes", value: 7, accepted: lines(["a"], vectors: #"{"a":1}"#),
        refused: lines(["a"], vectors: #"{"a":12}"#)),
      Edge(
        limit: "markBytes", value: 2, accepted: lines(["a"], mark: "mm"),
        refused: lines(["a"], mark: "mmm")),
      Edge(
        limit: "bodyBytes", value: lines(["a"]).utf8.count, accepted: lines(["a"]),
        refused: lines(["aa"])),
    ]

    private func with(
      _ limit: String, _ value: Int, _ body: (RunningHub) async throws -> Void
    ) async throws {
      let path = try #require(ServerLimits.named.first { $0.name == limit }).path
      try await RunningHub.with {
        $0.limits[keyPath: path] = value
        $0.now = { 0 }
      } _: { hub in
        #expect(try await hub.ask("GET", "/v1").member(limit) == "\(value)")
        try await body(hub)
      }
    }

    private func expect(
      _ answer: RunningHub.Answer, _ status: Int, _ limit: String, _ value: Int
    ) throws {
      #expect(answer.status == status, "\(answer.text)")
      #expect(try answer.member("limit") == limit)
      #expect(try answer.member("value") == "\(value)")
    }

    @Test(arguments: pushes)
    func aPushMayBeAsLargeAsItsLimits(edge: Edge) async throws {
      try await with(edge.limit, edge.value) { hub in
        let device = try await hub.create()
        let accepted = try await device.push(edge.accepted, upon: "0-0000000000000000")
        #expect(accepted.status == 200, "\(accepted.text)")
        let refused = try await device.push(edge.refused, upon: accepted.member("newest"))
        try expect(refused, edge.status, edge.limit, edge.value)
      }
    }

    @Test func aReplicaIDMayBeAsLongAsItsLimit() async throws {
      try await with("replicaBytes", 3) { hub in
        let device = try await hub.create()
        #expect(try await device.ask("GET", "/rows?replica=abc").status == 200)
        try expect(await device.ask("GET", "/rows?replica=abcd"), 413, "replicaBytes", 3)
      }
    }

    @Test func aNameMayBeAsLongAsItsLimit() async throws {
      try await with("nameBytes", 5) { hub in
        let device = try await hub.create()
        try expect(
          await device.ask("PATCH", "/devices/1", #"{"name":"phones"}"#), 413, "nameBytes", 5)
      }
    }

    @Test func anObjectMayBeAsLongAsItsLimit() async throws {
      let body = #"{"name":"x"}"#
      try await with("objectBytes", 100) { hub in
        let device = try await hub.create()
        let spaces = String(repeating: " ", count: 100 - body.utf8.count)
        #expect(try await device.ask("PATCH", "/devices/1", body + spaces).status == 204)
        try expect(
          await device.ask("PATCH", "/devices/1", body + spaces + " "), 413, "objectBytes", 100)
      }
    }

    @Test func aPageOfAnAnswerEndsAtItsLimit() async throws {
      try await with("pageBytes", 4) { hub in
        let device = try await hub.create()
        #expect(try await device.push(["a", "b", "c"], "1").status == 200)
        let page = try await device.ask("GET", "/rows?replica=r")
        #expect(try page.member("rows") == "2" && page.member("isLast") == "false")
      }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if Page
  import Foundation
  import TestSupport
  import Testing

  /// The writes of the page, request by request.
  @Suite struct WritingTests {
    private static let exact = """
      {"store":"cloud","key":"data","type":"data","value":"AAEC"}
      {"store":"cloud","key":"date","type":"date","value":0.1234567}
      {"store":"cloud","key":"flag","type":"boolean","value":true}
      {"store":"cloud","key":"integer","type":"integer","value":9007199254740993}
      {"store":"cloud","key":"list","type":"array","value":[{"$date":0.1234567},1e300]}
      {"store":"cloud","key":"map","type":"dictionary","value":{"a":9007199254740993,"b":5.0}}
      {"store":"cloud","key":"real","type":"real","value":5.0}
      {"store":"cloud","key":"text","type":"string","value":"a\\r\\nb"}
      """

    private func stored(_ page: OpenPage) throws -> String {
      let query = "SELECT key, type, quote(value) FROM entry ORDER BY key"
      return try page.folder.shell("sqlite3", "a", query)
    }

    /// Opens the page to edit a value of `name`.
    private func edit(
      _ value: String, in page: OpenPage
    ) async throws -> (visit: Visit, stamp: String) {
      try page.kvsync("set", "a", "name", value)
      try page.open("a", "--edit")
      let visit = try await Visit(page)
      return (visit, try await visit.key("name").stamp)
    }

    @Test func aValueThatIsSetAsItIsShownStaysTheSame() async throws {
      let page = try OpenPage()
      try page.lines(Self.exact)
      try page.kvsync("import", "a", "lines")
      let before = try stored(page)
      try page.open("a", "--edit")
      let visit = try await Visit(page)
      for key in ["data", "date", "flag", "integer", "list", "map", "real", "text"] {
        let (value, stamp) = try await visit.key(key)
        let type = try #require(value["type"] as? String)
        let answer = try await visit.post(
          "set",
          [
            "key": key, "stamp": stamp, "value": try #require(value["text"], "\(key)"),
            "type": ["array", "dictionary"].contains(type) ? "json" : type,
          ])
        #expect(answer.status == 200, "\(key): \(answer.text)")
        #expect(try await visit.key(key).stamp != stamp, "\(key)")
      }
      #expect(try stored(page) == before)
    }

    @Test func aMergeTellsItsValuesAsText() async throws {
      let page = try OpenPage()
      try page.kvsync("set", "a", "size", "1", "--type", "integer")
      try page.kvsync("merge", "a", "b", "--create")
      try page.kvsync("set", "a", "size", "9007199254740993", "--type", "integer")
      try page.open("a", "b")
      let visit = try await Visit(page)
      let answer = try await visit.post("merge", ["first": 0, "second": 1, "dryRun": true])
      #expect(answer.text.contains(#""new":{"type":"integer","text":"9007199254740993"}"#))
    }

    @Test func aRequestThatIsTooLargeIsRefusedAsThat() async throws {
      let page = try OpenPage()
      try page.open("a", "--edit", creating: "a")
      let visit = try await Visit(page)
      let value = String(repeating: "x", count: 5 << 20)
      let answer = try await visit.post("set", ["key": "k", "type": "string", "value": value])
      #expect(answer.status == 413)
      #expect(answer.text.contains("4 MiB") && answer.text.contains("kvsync import"))
    }

    @Test func aRestoredConflictIsResolvedAndAStaleOneIsRefused() async throws {
      let page = try OpenPage()
      let winner = try page.makeConflict()
      try page.open(winner, "--edit")
      let visit = try await Visit(page)
      var conflict = try await visit.conflict()
      #expect(!conflict.isResolved)
      try page.kvsync("set", winner, "name", "won")
      let early: [String: Any] = ["id": conflict.id, "stamp": conflict.stamp]
      #expect(try await visit.post("restore", early).status == 409)
      conflict = try await visit.conflict()
      let shown: [String: Any] = ["id": conflict.id, "stamp": conflict.stamp]
      #expect(try await visit.post("restore", shown).status == 200)
      #expect(try page.kvsync("get", winner, "name") == "lost\n")
      conflict = try await visit.conflict()
      #expect(conflict.isResolved)
      let again: [String: Any] = ["id": conflict.id, "stamp": conflict.stamp]
      let refused = try await visit.post("restore", again)
      #expect(refused.status == 409 && refused.text.contains("resolved already"))
      try page.kvsync("set", winner, "name", "newer")
      let stale: [String: Any] = ["id": conflict.id, "stamp": conflict.stamp]
      #expect(try await visit.post("restore", stale).status == 409)
      #expect(try page.kvsync("get", winner, "name") == "newer\n")
    }

    @Test func textsOfOtherBytesAreOtherValues() async throws {
      let page = try OpenPage()
      let (visit, stamp) = try await edit("e\u{301}", in: page)
      let body: [String: Any] = [
        "key": "name", "stamp": stamp, "value": "\u{e9}", "type": "string",
      ]
      #expect(try await visit.post("set", body).status == 200)
      #expect(Array(try page.kvsync("get", "a", "name").utf8) == Array("\u{e9}\n".utf8))
    }

    @Test func aWriteOfAnotherDeviceAtTheSameTimeIsNotReplacedUnseen() async throws {
      let page = try OpenPage()
      let (visit, stamp) = try await edit("mine", in: page)
      let other =
        "UPDATE entry SET value = 'theirs', replica_id = replica_id + 1,"
        + " sequence_number = sequence_number + 1"
      try page.folder.shell("sqlite3", "a", other)
      let body: [String: Any] = ["key": "name", "stamp": stamp, "value": "new", "type": "string"]
      #expect(try await visit.post("set", body).status == 409)
      #expect(try page.kvsync("get", "a", "name") == "theirs\n")
    }

    @Test func onlyAKeyThatIsThereIsDeletedAndNamesAreThoseOfSet() async throws {
      let page = try OpenPage()
      try page.open("a", "--edit", creating: "a")
      let visit = try await Visit(page)
      let deleted = try await visit.post("delete", ["key": "nothing", "stamp": ""])
      #expect(deleted.status == 404, "\(deleted.text)")
      for (store, key) in [("", "key"), ("cloud", "")] {
        let answer = try await visit.post(
          "set", ["store": store, "key": key, "type": "string", "value": "x"])
        #expect(answer.status == 400 && answer.text.contains("is empty"), "\(answer.text)")
      }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if Page
  import Foundation
  import TestSupport
  import Testing

  /// Requests of a browser that has opened the page.
  struct Visit {
    typealias Answer = (status: Int, text: String, json: [String: Any])

    private let page: OpenPage
    private let headers: [String: String]

    init(_ page: OpenPage) async throws {
      self.page = page
      headers = ["Cookie": try await page.enter(), "Origin": page.base]
    }

    func get(_ path: String) async throws -> Answer {
      try await ask("GET", path, nil)
    }

    func post(_ path: String, _ members: [String: Any]) async throws -> Answer {
      let members = ["device": 0, "store": "cloud"].merging(members) { $1 }
      let body = try JSONSerialization.data(withJSONObject: members)
      return try await ask("POST", path, String(decoding: body, as: UTF8.self))
    }

    private func ask(_ method: String, _ path: String, _ body: String?) async throws -> Answer {
      let answer = try await page.ask(method, "/api/" + path, headers, body)
      let json = try JSONSerialization.jsonObject(with: Data(answer.text.utf8))
      return (answer.status, answer.text, try #require(json as? [String: Any]))
    }

    /// The page's data of a key, with the stamp that a write to it has to send.
    func key(
      _ key: String, store: String = "cloud"
    ) async throws -> (value: [String: Any], stamp: String) {
      let answer = try await get("key?device=0&store=\(store)&key=\(key)")
      let layers = try #require(answer.json["layers"] as? [[String: Any]])
      let entry = layers.first { $0["layer"] as? String == "entry" && $0["deleted"] == nil }
      let value = answer.json["value"] as? [String: Any]
      let stamp = try entry.map { entry in
        try ["timestamp", "origin"].map { try #require(entry[$0] as? String) }
      }
      return (value ?? [:], stamp?.joined(separator: " ") ?? "")
    }

    struct Conflict {
      let id: Int
      let isResolved: Bool
      let stamp: String
    }

    /// The newest conflict.
    func conflict() async throws -> Conflict {
      let answer = try await get("conflicts?device=0")
      let json = try #require((answer.json["conflicts"] as? [[String: Any]])?.first)
      return Conflict(
        id: try #require(json["id"] as? Int), isResolved: try #require(json["resolved"] as? Bool),
        stamp: try #require(json["stamp"] as? String))
    }
  }
#endif

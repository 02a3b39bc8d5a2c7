// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakePage
  import TestSupport
  import Testing

  @Suite struct GateTests {
    /// Which no test may listen on.
    @Test func thePortOfHTTPMayBeLeftOutAndNoOther() {
      #expect(PageGate.names(8080) == ["127.0.0.1:8080", "localhost:8080"])
      let names = PageGate.names(80)
      #expect(names.contains("127.0.0.1") && names.contains("localhost:80"))
    }

    private func page(_ words: String...) throws -> OpenPage {
      let page = try OpenPage()
      try page.kvsync("set", "a", "theme", "dark")
      if words.isEmpty { try page.open("a") } else { try page.open("a", "--edit") }
      return page
    }

    @Test(arguments: [("exit 3", "has failed (3)"), (nil, "is not there")])
    func aBrowserThatDoesNotOpenIsTold(script: String?, problem: String) throws {
      let folder = try Folder()
      try folder.must("set", "a", "theme", "dark")
      try folder.makeFolder("bin")
      if let script {
        try folder.write("#!/bin/sh\n\(script)\n", to: "bin/xdg-open")
        try folder.shell("chmod", "755", "bin/xdg-open")
      }
      folder.environment = ["DISPLAY": ":0", "PATH": folder.path + "/bin"]
      let command = try RunningCommand(folder, ["open", "a"])
      let told = "kvsync: (xdg-open): \(problem); open the address yourself"
      #expect((0..<2).contains { _ in command.said() == told })
      _ = command.end()
    }

    @Test func nothingIsAnsweredWithoutTheTokenWhichCountsOnce() async throws {
      let page = try page()
      for path in ["/", "/page.js", "/api/state", "/api/events", "/?token=0123", "/other"] {
        let answer = try await page.ask("GET", path)
        #expect(answer.status == 403 && !answer.text.contains("dark"), "\(path)")
      }
      let cookie = try await page.enter()
      let entrance = String(page.address.dropFirst(page.base.count))
      #expect(try await page.ask("GET", entrance, ["Cookie": cookie]).status == 200)
      let other = cookie.prefix { $0 != "=" } + "=" + String(repeating: "0", count: 32)
      #expect(try await page.ask("GET", "/api/state", ["Cookie": String(other)]).status == 403)
      let answer = try await page.ask("GET", "/", ["Cookie": cookie])
      #expect(answer.status == 200)
      let policy = answer.fields.value(forHTTPHeaderField: "Content-Security-Policy") ?? ""
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; connect"))
      #expect(policy.contains("require-trusted-types-for 'script'"))
      for (name, value) in [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
      ] {
        #expect(answer.fields.value(forHTTPHeaderField: name) == value)
      }
      #expect(page.close() == 0)
    }

    @Test func aSecondBrowserWithTheTokenEndsTheSession() async throws {
      let page = try page()
      let cookie = try await page.enter()
      let entrance = String(page.address.dropFirst(page.base.count))
      let second = try await page.ask("GET", entrance)
      #expect(second.status == 403 && second.text.contains("used before"))
      #expect(try await page.ask("GET", "/", ["Cookie": cookie]).status == 403)
      #expect(try await page.ask("GET", entrance, ["Cookie": cookie]).status == 403)
      #expect(page.close() == 0)
    }

    @Test func anotherNameOfThisMachineAndAnotherPageAreRefused() async throws {
      let page = try page("edit")
      let cookie = try await page.enter()
      let body = #"{"device":0,"store":"cloud","key":"theme","type":"string","value":"x"}"#
      func expect(_ headers: [String: String], _ method: String, _ status: Int) async throws {
        let path = method == "GET" ? "/api/state" : "/api/set"
        let headers = headers.merging(["Cookie": cookie]) { $1 }
        let answer = try await page.ask(method, path, headers, method == "GET" ? nil : body)
        #expect(answer.status == status, "\(headers) \(answer.text)")
      }
      try await expect([:], "GET", 200)
      try await expect(["Host": "evil.example"], "GET", 403)
      try await expect(["Origin": "http://evil.example"], "GET", 403)
      try await expect(["Sec-Fetch-Site": "cross-site"], "GET", 403)
      try await expect(["Sec-Fetch-Site": "same-site"], "GET", 403)
      try await expect([:], "POST", 403)
      try await expect(["Origin": "null"], "POST", 403)
      try await expect(["Origin": "http://127.0.0.1:1"], "POST", 403)
      #expect(try page.kvsync("get", "a", "theme") == "dark\n")
      // What it was when the page saw it is not told: so it is another's.
      try await expect(["Origin": page.base], "POST", 409)
      #expect(page.close() == 0)
    }

    @Test func aPageThatCanOnlyReadRefusesEveryWrite() async throws {
      let page = try page()
      let headers = ["Cookie": try await page.enter(), "Origin": page.base]
      let body = #"{"device":0,"store":"cloud","key":"theme","id":1,"first":0,"second":0}"#
      for path in ["set", "delete", "restore", "merge"] {
        let answer = try await page.ask("POST", "/api/\(path)", headers, body)
        #expect(answer.status == 403 && answer.text.contains("--edit"), "\(path): \(answer.text)")
      }
      #expect(try page.kvsync("get", "a", "theme") == "dark\n")
      #expect(page.close(2) == 0)
    }
  }
#endif

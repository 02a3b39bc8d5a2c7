// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHub
import Testing

@Suite struct ProxyTests {
  private func variable(_ url: String, _ environment: [String: String]) throws -> String? {
    HubProxy.variable(before: try #require(URL(string: url)), in: environment)
  }

  @Test(arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
  func aHubOnThisMachineIsNotAskedThroughAProxy(name: String) throws {
    let environment = [name: "http://proxy.example:3128", "no_proxy": "intranet.example"]
    #expect(try variable("http://127.0.0.1:7890/v1", environment) == name)
    #expect(try variable("http://[::1]:7890/v1", environment) == name)
    #expect(try variable("https://hub.example/v1", environment) == nil)
  }

  @Test(arguments: ["no_proxy", "NO_PROXY"])
  func aHostThatIsExceptedIsAsked(name: String) throws {
    let proxy = ["http_proxy": "http://proxy.example:3128"]
    for exceptions in ["*", "127.0.0.1", "a.example, 127.0.0.1", "::1,127.0.0.1"] {
      let environment = proxy.merging([name: exceptions]) { $1 }
      #expect(try variable("http://127.0.0.1:7890/v1", environment) == nil, "\(exceptions)")
    }
    #expect(try variable("http://[::1]:1/v1", proxy.merging([name: "::1"]) { $1 }) == nil)
    #expect(
      try variable("http://127.0.0.1/v1", proxy.merging([name: "127.0.0"]) { $1 }) == "http_proxy")
  }

  @Test func withoutAProxyNothingIsRefused() throws {
    #expect(try variable("http://localhost:1/v1", [:]) == nil)
    #expect(try variable("http://localhost:1/v1", ["http_proxy": ""]) == nil)
    // libcurl reads it in small letters alone, as a server would take it from a request's header.
    #expect(try variable("http://localhost:1/v1", ["HTTP_PROXY": "http://proxy.example"]) == nil)
  }
}

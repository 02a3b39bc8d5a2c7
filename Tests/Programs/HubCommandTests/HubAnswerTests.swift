// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import TestSupport
  import Testing

  /// What comes back in place of what a hub should say: how `merge` tells it, and that the next
  /// one goes on. `AnswerTests` has all answers.
  @Suite struct HubAnswerTests {
    struct Answer: CustomTestStringConvertible {
      let status: Int
      let members: String
      let says: String
      let code: Int32

      /// - Parameter error: code and problem, as the protocol has them.
      init(_ status: Int, _ error: (String, String), says: String, code: Int32) {
        self.init(
          status,
          #""type":"application/problem+json","#
            + #""text":"{\"type\":\"urn:keepsake:hub:\#(error.0)\",\"detail\":\"\#(error.1)\"}""#,
          says: says, code: code)
      }

      init(_ status: Int, _ members: String, says: String, code: Int32) {
        (self.status, self.members, self.says, self.code) = (status, members, says, code)
      }

      var testDescription: String { "\(status) \(says)" }
    }

    private static let answers = [
      Answer(
        302, #""headers":{"Location":"https://portal.example/login"}"#,
        says: "it redirects to https://portal.example/login, which no hub does; "
          + "name the hub's own address, or sign in to the network that you are in", code: 69),
      Answer(
        418, ("later", "this hub speaks 2"),
        says: "it refuses the request (HTTP 418): this hub speaks 2; update the older one",
        code: 69),
      Answer(
        401, ("token", "not known here"),
        says: "it does not know the token: not known here; join the account: kvsync hub join",
        code: 77),
    ]

    @Test(arguments: answers)
    func whatIsNoAnswerOfAHubIsReportedInALineAndCostsNothing(_ answer: Answer) throws {
      let hub = try ServedHub()
      let between = try Interposer(hub)
      let (folder, url) = (hub.folder, between.address)
      try hub.create("phone", at: url)
      let before = try folder.contents("phone")
      try between.next(
        #"{"for":"POST /v1/accounts/","status":\#(answer.status),\#(answer.members)}"#)
      try folder.expect(
        "merge", "phone", url, says: "kvsync: \(url): \(answer.says)\n", code: answer.code)
      #expect(try between.isDone())
      #expect(try folder.contents("phone") == before)
      try folder.expectPush("phone", url, changed: 1)
    }

    @Test func aHubThatIsNotThereIsUnreachable() throws {
      let hub = try ServedHub()
      try hub.create("phone")
      #expect(hub.end(SIGTERM).code == 0)
      let ending = try hub.folder.run(["merge", "phone", hub.address])
      #expect(ending.code == 69 && ending.stdout == "")
      #expect(
        ending.stderr.hasPrefix("kvsync: \(hub.address): it cannot be reached ("), "\(ending)")
      #expect(
        ending.stderr.hasSuffix(
          "); check the address and the network; a certificate has to be one that the system "
            + "trusts\n"), "\(ending)")
    }
  }
#endif

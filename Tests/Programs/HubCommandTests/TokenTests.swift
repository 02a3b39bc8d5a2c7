// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import TestSupport
  import Testing

  /// Tokens are the user's alone: in one file, and in no output.
  @Suite struct TokenTests {
    private let hub: ServedHub
    private var folder: Folder { hub.folder }
    private var url: String { hub.address }
    private let tokens = "config/keepsake/hubs"

    init() throws { hub = try ServedHub() }

    private func token() throws -> String {
      let text = try String(contentsOf: folder.url(tokens), encoding: .utf8)
      return String(try #require(text.firstMatch(of: /"token":"([^"]+)"/)).output.1)
    }

    @Test func theFileOfTokensIsItsUsersAlone() throws {
      try hub.create("phone")
      let modes = try folder.shell("stat", "-c", "%a", "config/keepsake", tokens, "hub.db.secret")
      #expect(modes == "700\n600\n600\n")
      try folder.shell("chmod", "644", tokens)
      try folder.expect(
        "merge", "phone", url,
        says: "kvsync: \(folder.path)/\(tokens): others may read these tokens, or have written "
          + "them; chmod 600 it, and revoke the tokens if others have read them\n", code: 77)
    }

    @Test func noOutputHasAToken() throws {
      try hub.create("phone")
      try hub.join("laptop", by: "phone")
      let token = try token()
      let secret = try String(contentsOf: folder.url("hub.db.secret"), encoding: .utf8)
        .trimmingCharacters(in: .newlines)
      for words in [
        ["merge", "phone", url], ["merge", "phone", url, "--json"], ["hub", "devices", "phone"],
        ["hub", "devices", "phone", "--json"], ["hub", "invite", "phone"],
        ["hub", "export", "phone"], ["list", "phone", "--json"], ["doctor", "phone"],
        ["hub", "create", url, "phone", "--secret", "hub.db.secret"],
        ["hub", "revoke", "phone", "1"], ["merge", "phone", url], ["hub", "devices", "phone"],
      ] {
        let ending = try folder.run(words)
        for hidden in [token, secret] {
          #expect(!"\(ending.stdout)\(ending.stderr)".contains(hidden), "\(words)")
        }
      }
      let ending = hub.end(SIGTERM)
      #expect(!"\(ending.stdout)\(ending.stderr)".contains(token))
      #expect(try folder.shell("grep", "-rlFe", token, ".") == "./\(tokens)\n")
    }

    /// It could read the token.
    @Test(arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
    func aHubOnThisMachineIsNotAskedThroughAProxy(variable: String) throws {
      try hub.create("phone")
      // Nothing answers there.
      folder.environment[variable] = "http://127.0.0.1:1"
      try folder.must("merge", "phone", url)
    }

    @Test func aTokenThatCannotBeKeptIsNotAskedFor() throws {
      try folder.must("set", "phone", "k", "v")
      let config = folder.environment["XDG_CONFIG_HOME"]
      // Even root cannot write there.
      folder.environment["XDG_CONFIG_HOME"] = "/proc/none"
      try folder.expect(
        "hub", "create", url, "phone", "--secret", "hub.db.secret",
        says: "kvsync: /proc/none/keepsake: the folder of the tokens cannot be made; "
          + "check the folder above it\n", code: 73)
      folder.environment["XDG_CONFIG_HOME"] = config
      try hub.create("phone")
      let said = try folder.must("hub", "devices", "phone", "--json")
      #expect(said.contains(#""device":1,"#) && !said.contains(#""device":2,"#), "\(said)")
    }

    @Test func aTokenOfTheEnvironmentStandsInForTheFile() throws {
      try hub.create("phone")
      let (token, account) = (try token(), try hub.account(of: "phone"))
      try folder.shell("rm", tokens)
      folder.environment["KEEPSAKE_HUB_TOKEN"] = "\(account).\(token)"
      try folder.must("merge", "phone", url)
      #expect(!folder.exists(tokens))
      try folder.expect(
        "hub", "devices", "phone",
        says: "kvsync: phone: KEEPSAKE_HUB_TOKEN is of no hub; name its address\n", code: 64)
    }

    @Test func aCopyOfADeviceTakesNoTokenWithIt() throws {
      try hub.create("phone")
      try folder.shell("cp", "phone", "copy")
      try folder.expect(
        "merge", "copy", url,
        says: "kvsync: copy: this device has joined no account at \(url); "
          + "join one: kvsync hub join \(url) copy\n", code: 77)
    }
  }
#endif

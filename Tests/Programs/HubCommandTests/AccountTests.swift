// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import TestSupport
  import Testing

  /// The commands of an account, by all that they say.
  @Suite struct AccountTests {
    private let hub: ServedHub
    private var folder: Folder { hub.folder }
    private var url: String { hub.address }

    init() throws { hub = try ServedHub() }

    /// The output of a command, with T for times and A for accounts.
    private func timeless(_ words: String..., stdin: String? = nil) throws -> String {
      let ending = try folder.run(words, stdin: stdin)
      #expect(ending.code == 0 && ending.stderr == "", "\(words) \(ending)")
      return ending.stdout.replacing(/[0-9-]{10}T[0-9:.]{12}Z/, with: "T")
        .replacing(/account [0-9a-f]{16}/, with: "account A")
        .replacing(/"account":"[0-9a-f]{16}"/, with: #""account":"A""#)
    }

    @Test func aDeviceMakesAnAccountAndAnotherOneJoinsIt() throws {
      for file in ["phone", "laptop"] { try folder.must("set", file, "theme", "dark") }
      #expect(
        try timeless("hub", "create", url, "phone", "--secret", "hub.db.secret")
          == "\(url): this device has account A, as number 1\n")
      let code = try folder.must("hub", "invite", "phone")
      #expect(code.wholeMatch(of: /[0-9a-f]{16}\.[A-Za-z0-9_-]{43}\n/) != nil)
      try folder.write(code, to: "code")
      #expect(
        try timeless("hub", "join", url, "laptop", "--name", "My laptop", stdin: "code")
          == "\(url): this device has joined account A, as number 2\n")
      #expect(
        try timeless("hub", "devices", "phone")
          == "1  phone  last used T  this device\n2  My laptop  last used T\n")
      let device = #"{"device":1,"name":"phone","created":"T","lastUse":"T"}"#
      let own = #"{"device":2,"name":"My laptop","created":"T","lastUse":"T","self":true}"#
      #expect(
        try timeless("hub", "devices", "laptop", "--json")
          == #"{"account":"A","devices":[\#(device),\#(own)]}"# + "\n")
    }

    @Test func aDeviceThatHasAnAccountMakesNoOther() throws {
      try hub.create("phone")
      let account = try hub.account(of: "phone")
      let refused =
        "kvsync: phone: this device has account \(account) at \(url) already, as number 1; "
        + "delete it first: kvsync hub delete phone --confirm \(account)\n"
      try folder.expect(
        "hub", "create", url, "phone", "--secret", "hub.db.secret", says: refused, code: 64)
      try folder.write(try folder.must("hub", "invite", "phone"), to: "code")
      try folder.expect("hub", "join", url, "phone", stdin: "code", says: refused, code: 64)
      try folder.must("hub", "revoke", "phone", "1")
      #expect(
        try timeless("hub", "create", url, "phone", "--secret", "hub.db.secret")
          == "\(url): this device has account A, as number 1\n")
      #expect(try hub.account(of: "phone") != account)
    }

    @Test func aCodeIsGoodOnce() throws {
      try hub.create("phone")
      try hub.join("laptop", by: "phone")
      try folder.must("set", "tablet", "k", "v")
      try folder.expect(
        "hub", "join", url, "tablet", stdin: "code",
        says: "kvsync: \(url): it refuses the code: the code is wrong, was used, or has "
          + "ended; ask for a new one: kvsync hub invite\n", code: 77)
      try folder.write("x\n", to: "code")
      try folder.expect(
        "hub", "join", url, "tablet", stdin: "code",
        says: "kvsync: (code): the code is none of a hub's; "
          + "use the whole line that kvsync hub invite prints\n",
        code: 77)
      try folder.expect(
        "hub", "join", url, "tablet",
        says: "kvsync: (standard input): it is empty; give it the code of kvsync hub invite\n",
        code: 64)
    }

    @Test(arguments: [
      (String(repeating: "wrong", count: 8), "it does not take the secret"),
      ("short", "the secret is none of a hub's"),
    ])
    func aWrongSecretIsReported(secret: String, says: String) throws {
      try folder.must("set", "phone", "k", "v")
      try folder.write(secret, to: "secret")
      try folder.expect(
        "hub", "create", url, "phone", "--secret", "secret",
        says: "kvsync: \(url): \(says); use what the file of its operator's secret holds\n",
        code: 77)
    }

    @Test func aRevokedDeviceIsRefusedAndKeepsWhatItHolds() throws {
      try hub.create("phone")
      try hub.join("laptop", by: "phone")
      let before = try folder.contents("laptop")
      try folder.expect(
        "hub", "revoke", "phone", "2", prints: "\(url): number 2 is revoked\n")
      try folder.expect(
        "merge", "laptop", url,
        says: "kvsync: \(url): it does not know the token: the hub does not know this token; "
          + "join the account: kvsync hub join\n", code: 77)
      #expect(try folder.contents("laptop") == before)
      #expect(
        try timeless("hub", "devices", "phone") == "1  phone  last used T  this device\n")
    }

    @Test func aDeviceIsRenamed() throws {
      try hub.create("phone")
      try folder.expect(
        "hub", "rename", "phone", "1", "--name", "My phone",
        prints: "\(url): number 1 is called My phone\n")
      #expect(
        try timeless("hub", "devices", "phone") == "1  My phone  last used T  this device\n")
    }

    @Test func aDeviceOfAnotherAccountSaysWhetherItsValuesComeAlong() throws {
      try hub.create("phone")
      try folder.must("merge", "phone", url)
      try hub.create("tablet")
      try folder.must("hub", "revoke", "phone", "1")
      try folder.write(try folder.must("hub", "invite", "tablet"), to: "code")
      try folder.expect(
        "hub", "join", url, "phone", stdin: "code",
        says: "kvsync: phone: this device has values of another account; --merge brings them into "
          + "this one, --discard empties its synced stores\n", code: 64)
      #expect(
        try timeless("hub", "join", url, "phone", "--discard", stdin: "code")
          == "\(url): this device has joined account A, as number 2\n")
      try folder.must("merge", "tablet", url)
      try folder.must("merge", "phone", url)
      #expect(try folder.must("list", "phone") == "cloud\ttablet\tstring\t\"1\"\n")
    }

    @Test func aNumberThatNoDeviceHasIsTheUsersError() throws {
      try hub.create("phone")
      try folder.expect(
        "hub", "revoke", "phone", "99",
        says: "kvsync: \(url): it has no such thing: the account has no device 99; "
          + "check the address and the number\n", code: 66)
    }

    @Test func anExportHasEveryRowAndImportReadsIt() throws {
      try hub.create("phone")
      for (key, type, value) in [
        ("theme", "string", "dark"), ("big", "integer", "9007199254740993"),
        ("when", "date", "2026-11-20T10:00:00.123Z"), ("list", "json", #"[1,{"a":2.5}]"#),
        ("raw", "data", "AAEC"), ("half", "real", "0.1"), ("on", "boolean", "true"),
      ] {
        try folder.must("set", "phone", key, value, "--type", type)
      }
      try folder.must("delete", "phone", "phone")
      try folder.must("merge", "phone", url)
      let rows = try folder.must("hub", "export", "phone")
      #expect(rows.split(separator: "\n").count == 8, "\(rows)")
      #expect(rows == (try folder.must("export", "phone", "--deleted")))
      try folder.write(rows, to: "rows")
      try folder.expect("import", "copy", "rows", prints: "8 imported, 7 changed\n")
      #expect(rows == (try folder.must("export", "copy", "--deleted")))
      try folder.expect(
        "hub", "export", "phone", "--json",
        prints: "[" + rows.dropLast().replacing("\n", with: ",") + "]\n")
    }

    @Test func anAccountIsDeletedByItsNumberAlone() throws {
      try hub.create("phone")
      try folder.must("merge", "phone", url)
      let account = try hub.account(of: "phone")
      try folder.expect(
        "hub", "delete", "phone", "--confirm", "7",
        says: "kvsync: phone: its account is \(account), not 7; nothing is deleted\n", code: 64)
      try folder.expect(
        "hub", "delete", "phone",
        says: "kvsync: phone: missing expected argument '--confirm <confirm>'; "
          + "see kvsync help hub delete\n", code: 64)
      try folder.expect(
        "hub", "delete", "phone", "--confirm", account,
        prints: "\(url): account \(account) is deleted; devices keep what they hold\n")
      try folder.expect("get", "phone", "phone", prints: "1\n")
      try folder.expect(
        "merge", "phone", url,
        says: "kvsync: phone: this device has joined no account at \(url); "
          + "join one: kvsync hub join \(url) phone\n", code: 77)
    }

    @Test(arguments: [
      (["hub", "create"], "(command line): missing expected argument '<url>'", "create"),
      (["hub", "create", "https://a"], "https://a: missing expected argument '<file>'", "create"),
      (["hub", "revoke", "a", "x"], "a: the value 'x' is invalid for '<number>'", "revoke"),
    ])
    func aCommandLineThatCannotBeUsedNamesItsCommand(
      words: [String], says: String, command: String
    ) throws {
      try folder.expect(
        words, says: "kvsync: \(says); see kvsync help hub \(command)\n", code: 64)
    }

    @Test func aMissingFileIsReportedAsByOtherCommands() throws {
      for words in [["merge", "none", url], ["hub", "devices", "none"]] {
        try folder.expect(
          words, says: "kvsync: none: there is no such file; check the path\n", code: 66)
      }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import TestSupport
  import Testing

  /// Limits of a hub, as each command reports them.
  @Suite struct HubRoomTests {
    @Test func aFullAccountIsReportedAndReadingGoesOn() throws {
      let hub = try ServedHub("--limit", "rows=3")
      let (folder, url) = (hub.folder, hub.address)
      try hub.create("phone")
      try hub.join("laptop", by: "phone")
      for device in ["phone", "laptop", "phone"] { try folder.must("merge", device, url) }
      for key in ["theme", "font"] { try folder.must("set", "phone", key, "x") }
      let before = try folder.contents("phone")
      try folder.expect(
        "merge", "phone", url,
        says: "kvsync: \(url): the account is full there: the account has as much as rows allows: "
          + "3; delete what is not needed, or ask who runs the hub\n", code: 75)
      #expect(try folder.contents("phone") == before)
      // A push that does not make the account larger is accepted.
      try folder.must("set", "laptop", "phone", "2")
      try folder.expectPush("laptop", url, changed: 1)
      let ending = try folder.run(["merge", "phone", url])
      #expect(ending.code == 75, "\(ending)")
      #expect(ending.stdout.hasSuffix("\"1\" -> \"2\"\nThe files still differ.\n"), "\(ending)")
      try folder.expect("get", "phone", "phone", prints: "2\n")
    }

    @Test func whatIsTooLargeForAHubIsReportedEachTimeAndTheRestSyncs() throws {
      let hub = try ServedHub()
      let (folder, url) = (hub.folder, hub.address)
      try hub.create("phone")
      // A hub takes 4 MiB at once, and JSON has six bytes for each of these.
      let value = String(repeating: "\\u0001", count: 900_000)
      try folder.write(
        #"{"key":"photo","type":"string","value":"\#(value)"}"# + "\n"
          + #"{"key":"theme","type":"string","value":"dark"}"# + "\n", to: "lines")
      try folder.must("import", "phone", "lines")
      let told =
        "cloud/photo: is too large for the hub, or for any device; it stays here until it is "
        + "smaller, or, up to 1 MiB, the limit of the hub, or of a proxy before it, is raised"
      for received in [2, 0] {
        try folder.expect(
          "merge", "phone", url,
          prints: """
            \(url) -> phone: 0 received, 0 changed
            phone -> \(url): 0 received, \(received) changed
            \(told)
            The files still differ.

            """)
      }
      let text = try folder.must("merge", "phone", url, "--json")
      #expect(
        text.hasSuffix(
          #""events":[{"kind":"tooLarge","store":"cloud","key":"photo"}]}"# + "\n"), "\(text)")
      #expect(try folder.must("hub", "export", "phone").split(separator: "\n").count == 2)
      // The change has the large value, and the command would wait until it is read.
      let watching = try RunningCommand(
        folder,
        ["-c", #"exec "$0" watch phone --hub \#(url) >/dev/null"#, try Command.kvsync.get()],
        program: try Command.find("sh"))
      #expect((0..<3).map { _ in watching.said() }.contains("kvsync: \(told)"))
      try folder.must("set", "phone", "other", "small")
      var exports = 0
      while try !folder.must("hub", "export", "phone").contains("other"), exports < 1_000 {
        exports += 1
      }
      try folder.must("set", "phone", "photo", "small")
      // The row that stays is reported once.
      let over = "kvsync: \(url): all is synced again"
      #expect(watching.said() == over)
      _ = watching.end()
      let said = try folder.must("merge", "phone", url)
      #expect(said.hasSuffix("\nAll files hold the same.\n"), "\(said)")
    }
  }
#endif

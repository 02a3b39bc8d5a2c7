// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import TestSupport
  import Testing

  /// Merges and watches with a hub, by all that they say.
  @Suite struct HubMergeTests {
    private let hub: ServedHub
    private var folder: Folder { hub.folder }
    private var url: String { hub.address }

    init() throws {
      hub = try ServedHub()
      try hub.create("phone")
      try hub.join("laptop", by: "phone")
    }

    @Test func bothWaysAndWhatLostIsLogged() throws {
      try folder.must("set", "phone", "theme", "dark")
      try folder.must("set", "laptop", "theme", "light")
      try folder.expectPush("phone", url, changed: 2)
      try folder.expect(
        "merge", "laptop", url,
        prints: """
          \(url) -> laptop: 2 received, 1 changed, 1 lost and logged
          laptop -> \(url): 0 received, 2 changed
            laptop  cloud/phone: nothing -> "1"
            laptop  cloud/theme: "dark" lost to a later write
          All files hold the same.

          """)
      // The order of the words is the user's.
      try folder.expect(
        "merge", url, "phone",
        prints: """
          \(url) -> phone: 2 received, 2 changed
          phone -> \(url): 0 received, 0 changed
            phone  cloud/laptop: nothing -> "1"
            phone  cloud/theme: "dark" -> "light"
          All files hold the same.

          """)
      #expect(try folder.stores("phone") == folder.stores("laptop"))
      #expect(try folder.must("conflicts", "phone") == "")
      #expect(
        try folder.must("conflicts", "laptop").hasPrefix("1\tcloud\ttheme\t\"dark\"\tof "))
    }

    @Test func jsonHasTheShapeOfAMergeOfFiles() throws {
      let replica = try folder.replica("phone")
      let devices = #"[{"path":"phone","replica":"\#(replica)"},{"path":"\#(url)"}]"#
      try folder.expect(
        "merge", "phone", url, "--json",
        prints: #"{"converged":true,"devices":\#(devices),"transfers":["#
          + #"{"from":"\#(url)","into":"phone","received":0,"changed":0,"waiting":0,"#
          + #""conflicts":0},"#
          + #"{"from":"phone","into":"\#(url)","received":0,"changed":1,"waiting":0,"conflicts":0}"#
          + #"],"changes":[],"events":[]}"# + "\n")
    }

    @Test func aDeviceThatWatchesHearsAnother() throws {
      let watching = try RunningCommand(folder, ["watch", "laptop", "--hub", url])
      let said = [watching.said(), watching.said()]
      #expect(
        Set(said) == [
          "kvsync: laptop: watching; interrupt to stop", "kvsync: \(url): connected",
        ])
      try folder.must("set", "phone", "theme", "dark")
      try folder.must("merge", "phone", url)
      let heard = [watching.line(), watching.line()]
      #expect(
        heard == [#"cloud/phone: nothing -> "1""#, #"cloud/theme: nothing -> "dark""#])
      #expect(watching.end() == Ending())
      // Its earlier writes are there, too.
      try folder.must("merge", "phone", url)
      try folder.expect("get", "phone", "laptop", prints: "1\n")
    }

    @Test func aCompactionDropsDeletionsOnTheHubToo() throws {
      try folder.must("delete", "phone", "phone")
      try folder.must("merge", "phone", url)
      #expect(try folder.must("hub", "export", "phone").contains("deleted"))
      let printed = try folder.must("compact", "phone", "--hub", url, "--at", "2028-01-01")
      #expect(printed.hasPrefix("1 deletion dropped, 0 kept; "), "\(printed)")
      #expect(try folder.must("hub", "export", "phone") == "")
    }

    @Test func mergesOfOneFileAtOnceTakeTurns() throws {
      try hub.fill("phone", "p", count: 1100)
      try hub.fill("laptop", "l", count: 1100)
      let script = """
        for i in 1 2 3; do
          for file in phone laptop; do
            "$0" merge $file "$1" --quiet --busy-timeout 240s ||
              { code=$?; [ $code = 75 ] || echo "merge $code"; } &
          done
        done
        wait
        """
      let ending = try Command.run(
        Command.find("bash"), ["-c", script, Command.kvsync.get(), url], in: folder.path,
        environment: folder.environment, patience: 300)
      // A device that waits too long for others, or that others overtake each time, gets an error.
      let busy = "another merge of this file is under way; try again when it is done"
      let overtaken = "other devices have synced in between each time; try again"
      let said = ending.stderr.split(separator: "\n")
      #expect(said.allSatisfy { $0.hasSuffix(busy) || $0.hasSuffix(overtaken) }, "\(said)")
      #expect(ending.code == 0 && ending.stdout == "")
      for file in ["phone", "laptop", "phone"] { try folder.must("merge", file, url) }
      #expect(try folder.stores("phone") == folder.stores("laptop"))
      for file in ["phone", "laptop"] {
        #expect(
          try folder.shell("sqlite3", file, "SELECT count(*) FROM entry") == "2202\n")
        #expect(try folder.must("conflicts", file) == "")
      }
    }
  }
#endif

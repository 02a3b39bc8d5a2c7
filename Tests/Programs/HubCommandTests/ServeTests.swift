// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import TestSupport
  import Testing

  /// Mistakes of an operator leave nothing behind.
  @Suite struct ServeTests {
    @Test(arguments: [
      (["--data", "."], 65, "."), (["--data", "phone"], 65, "phone"),
      (["--data", "none/hub.db"], 73, "none/hub.db"),
    ])
    func whereNoHubCanBeNoSecretIsMade(options: [String], code: Int32, place: String) throws {
      let folder = try Folder()
      try folder.must("set", "phone", "k", "v")
      let ending = try folder.run(["hub", "serve", "--listen", "127.0.0.1:0"] + options)
      #expect(ending.code == code && ending.stderr.hasPrefix("kvsync: "), "\(ending)")
      #expect(ending.stderr.contains(place) && ending.stdout == "", "\(ending)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
          .allSatisfy { !$0.contains("secret") })
    }

    @Test func aSecretThatOthersMayReadOrThatIsTooShortIsReported() throws {
      let folder = try Folder()
      try folder.write("short\n", to: "secret")
      try folder.shell("chmod", "644", "secret")
      let ending = try folder.run(
        ["hub", "serve", "--data", "hub.db", "--secret", "secret", "--listen", "127.0.0.1:0"])
      #expect(
        ending
          == Ending(
            stderr: """
              kvsync: secret: others may read the operator's secret; chmod 600 it
              kvsync: secret: this is no secret of 32 characters or more; \
              move the file away, and the hub makes one

              """, code: 65))
    }

    @Test func wrongOptionsAreNamedWithTheirDashes() throws {
      let folder = try Folder()
      for (options, says) in [
        (["--limit", "rows=1000001"], "--limit rows takes at most 1000000"),
        (["--limit", "pageBytes=8388609"], "--limit pageBytes takes at most 8388608"),
        (
          ["--limit", "row=1"],
          "--limit takes NAME=COUNT, not row=1; the names are rows, bytes, devices, keyBytes, "
            + "rowBytes, pageRows, pageBytes, vectorBytes, markBytes, replicaBytes, nameBytes, "
            + "bodyBytes, objectBytes, headBytes, requestsPerMinute, unknownPerMinute, streams, "
            + "bytesInFlight, deviceBytesInFlight, connections"
        ),
      ] {
        try folder.expect(
          ["hub", "serve", "--data", "hub.db"] + options,
          says: "kvsync: (command line): \(says); see kvsync help hub serve\n", code: 64)
      }
    }

    @Test func anAddressThatIsNoneIsRefused() throws {
      for place in ["*:7890", ":7890", "localhost", "localhost:70000"] {
        let ending = try Folder().run(["hub", "serve", "--data", "hub.db", "--listen", place])
        #expect(ending.code == 64 && ending.stderr.contains("'\(place)'"), "\(ending)")
      }
    }

    /// At the limit the server would try to accept a connection without end.
    @Test func aHubThatMayOpenFewFilesAcceptsFewerConnections() throws {
      let hub = try ServedHub()
      let taken = String(hub.address.dropFirst(7))
      let ending = try Command.run(
        Command.find("sh"),
        [
          "-c", #"ulimit -n 128; exec "$0" hub serve --data other.db --listen \#(taken)"#,
          try Command.kvsync.get(),
        ], in: hub.folder.path)
      let warning =
        "kvsync: the system's limit of open files allows 64 connections, not 4096; "
        + "raise it (ulimit -n, LimitNOFILE)\n"
      #expect(ending.stderr.hasPrefix(warning), "\(ending)")
    }

    @Test func aHubWithAsManyConnectionsAsItMayHaveAnswersOnceOneCloses() throws {
      let folder = try Folder()
      folder.environment["XDG_CONFIG_HOME"] = folder.path + "/config"
      try folder.must("set", "phone", "k", "1")
      let command = #"ulimit -n 66; exec "$0" hub serve --data hub.db --listen 127.0.0.1:0"#
      let hub = try RunningCommand(
        folder, ["-c", command, try Command.kvsync.get()], program: Command.find("sh"))
      defer { _ = hub.end(SIGKILL) }
      let address = String(hub.line().prefix { $0 != "," })
      let port = try #require(address.split(separator: ":").last)
      let script = """
        import socket, time
        idle = [socket.create_connection(("127.0.0.1", \(port))) for _ in range(20)]
        print("open", flush=True)
        time.sleep(600)
        """
      let idle = try RunningCommand(folder, ["-c", script], program: Command.find("python3"))
      #expect(idle.line() == "open")
      _ = idle.end(SIGKILL)
      try folder.must("hub", "create", address, "phone", "--secret", "hub.db.secret")
    }

    @Test func anAddressThatIsTakenIsNamed() throws {
      let hub = try ServedHub()
      let taken = String(hub.address.dropFirst(7))
      for options in [["--listen", taken], ["--listen", "127.0.0.1:0", "--metrics", taken]] {
        let ending = try hub.folder.run(["hub", "serve", "--data", "other.db"] + options)
        #expect(ending.code == 74, "\(ending)")
        #expect(
          ending.stderr.split(separator: "\n").contains {
            $0.hasPrefix("kvsync: \(taken): ") && $0.contains(": Address already in use; see ")
          },
          "\(ending)")
      }
    }

    @Test func aDeviceMayNotAskMoreOftenThanTheOperatorSays() throws {
      let hub = try ServedHub("--limit", "requestsPerMinute=3")
      try hub.create("phone")
      let codes = try (0..<5).map { _ in try hub.folder.run(["hub", "devices", "phone"]).code }
      #expect(codes.filter { $0 == 75 }.count >= 1, "\(codes)")
    }

    @Test func aNewDevicesFileIsMadeWhereThatIsSaid() throws {
      let hub = try ServedHub()
      try hub.create("phone")
      let account = try hub.account(of: "phone")
      try hub.folder.write(try hub.folder.must("hub", "invite", "phone"), to: "code")
      try hub.folder.expect(
        "hub", "join", hub.address, "laptop", stdin: "code",
        says: "kvsync: laptop: there is no such file; check the path, or let --create make it\n",
        code: 66)
      try hub.folder.expect(
        "hub", "join", hub.address, "laptop", "--create", stdin: "code",
        prints: "\(hub.address): this device has joined account \(account), as number 2\n")
      for device in ["phone", "laptop"] { try hub.folder.must("merge", device, hub.address) }
      try hub.folder.expect("get", "laptop", "phone", prints: "1\n")
    }

    @Test func aNameThatNoDeviceMayHaveIsTheUsersError() throws {
      let hub = try ServedHub()
      for name in ["", "a\nb", String(repeating: "x", count: 201)] {
        try hub.folder.expect(
          "hub", "create", hub.address, "phone", "--name", name, "--secret", "hub.db.secret",
          says: "kvsync: \(hub.address): --name takes 1 to 200 bytes without control characters; "
            + "see kvsync help hub create\n", code: 64)
      }
    }

    @Test func tokensAreKeptWhereHomeSays() throws {
      let hub = try ServedHub()
      hub.folder.environment["XDG_CONFIG_HOME"] = ""
      hub.folder.environment["HOME"] = hub.folder.path + "/home"
      try hub.create("phone")
      #expect(
        FileManager.default.fileExists(
          atPath: hub.folder.url("home/.config/keepsake/hubs").path))
    }
  }
#endif

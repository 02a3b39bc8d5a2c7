// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import FoundationNetworking
  import Synchronization
  import TestSupport
  import Testing

  private final class Counter: Sendable {
    private let value = Atomic(0)
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
  }

  /// `kvsync hub serve` as an operator starts and ends it.
  @Suite struct HubProcessTests {
    /// - Returns: the process, and the hub as devices reach it.
    private func serve(
      in folder: Folder, _ words: String...
    ) throws -> (process: RunningCommand, hub: RunningHub) {
      let all = ["hub", "serve", "--data", "hub.db", "--listen", "127.0.0.1:0"]
      let process = try RunningCommand(
        folder, all + ["--limit", "requestsPerMinute=1000000000"] + words,
        program: Command.built("kvsync-hub").get())
      let line = process.line()
      let port = try #require(line.firstMatch(of: /^http:\/\/127\.0\.0\.1:([0-9]+),/), "\(line)")
      let secret = try String(contentsOfFile: folder.path + "/hub.db.secret", encoding: .utf8)
        .trimmingCharacters(in: .newlines)
      return (process, RunningHub(port: try #require(Int(port.output.1)), secret: secret))
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func whatWasAcknowledgedIsThereAfterAnEndUnderLoad(signal: Int32) async throws {
      let folder = try Folder()
      let (process, hub) = try serve(in: folder)
      let id = process.id
      let count = Counter()
      var devices: [TestDevice] = []
      for _ in 0..<4 { devices.append(try await hub.create()) }
      let taken = await withTaskGroup(of: (Int, [String]).self) { group in
        for (index, device) in devices.enumerated() {
          group.addTask {
            var keys: [String] = []
            // Until the hub is gone.
            // The hub ends in the middle of this: a push that fails was not acknowledged.
            while let answer = try? await device.push(["key \(keys.count)"]), answer.status == 200 {
              keys.append("key \(keys.count)")
              if count.next() == 40 { kill(id, signal) }
            }
            return (index, keys)
          }
        }
        return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      let ending = process.end(0)
      #expect(ending.code == (signal == SIGTERM ? 0 : 128 + SIGKILL), "\(ending)")
      #expect(taken.values.reduce(0) { $0 + $1.count } >= 40)
      let (again, same) = try serve(in: folder)
      for (index, keys) in taken {
        let (path, token) = (devices[index].path("/rows"), devices[index].token)
        let text = try await same.ask("GET", path, token).text
        for key in keys { #expect(text.contains("\"key\":\"\(key)\""), "\(key)") }
      }
      #expect(again.end(SIGTERM).code == 0)
    }

    private static let hasIPv6: Bool = {
      let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_addr = in6addr_loopback
      let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
      return withUnsafeBytes(of: &address) { bytes in
        bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, size) == 0
      }
    }()

    @Test(.enabled(if: hasIPv6, "this machine has no IPv6"))
    func anAddressOfIPv6IsPrintedAsDevicesWriteIt() throws {
      let folder = try Folder()
      defer { withExtendedLifetime(folder) {} }
      let process = try RunningCommand(
        folder, ["hub", "serve", "--data", "hub.db", "--listen", "[::1]:0"],
        program: Command.built("kvsync-hub").get())
      let line = process.line()
      #expect(line.wholeMatch(of: /http:\/\/\[::1\]:[0-9]+, operator's.*/) != nil, "\(line)")
      #expect(process.end(SIGTERM).code == 0)
    }

    #if PostgreSQL
      @Test(arguments: ["postgresql://hub@db:1%/keepsake", "http://db/keepsake", "keepsake"])
      func anAddressOfPostgreSQLThatCannotBeReadIsAMistakeOfTheCommandLine(url: String) throws {
        let folder = try Folder()
        let ending = try Command.run(
          Command.built("kvsync-hub").get(),
          ["hub", "serve", "--postgres", url, "--secret", "secret"], in: folder.path)
        #expect(ending.code == 64, "\(ending)")
        #expect(ending.stderr.contains("the address of PostgreSQL cannot be read"), "\(ending)")
      }
    #endif

    @Test func neitherLogNorMetricsHaveAKeyAValueANameOrASecret() async throws {
      let folder = try Folder()
      let (process, hub) = try serve(
        in: folder, "--log", "debug", "--metrics", "127.0.0.1:0")
      let said = process.said()
      let place = try #require(said.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\/metrics/))
      let device = try await hub.create()
      let laptop = try await device.join()
      #expect(try await device.push(["hidden key"], "\"hidden value\"").status == 200)
      #expect(try await device.push("hidden value", upon: device.newest()).status == 400)
      let stranger = TestDevice(hub: hub, account: device.account, token: "hidden-token")
      #expect(try await stranger.ask("GET", "/devices").status == 401)
      #expect(try await hub.ask("GET", "/v1/hidden-path", device.token).status == 404)
      #expect(try await device.ask("GET", "/rows?replica=r&cursor=hidden-query").status == 400)
      #expect(try await device.ask("DELETE", "/devices/2").status == 204)
      let metrics = try await hub.ask("GET", "/metrics", port: Int(place.output.1)).text
      let log = process.end(SIGTERM).stderr
      #expect(log.contains("POST /v1/accounts/") && metrics.contains("POST /v1/accounts/"))
      for secret in [
        "hidden", "phone", "laptop", device.token, laptop.token, hub.secret,
      ] {
        #expect(!log.contains(secret) && !metrics.contains(secret), "\(secret) in \(log)")
      }
    }
  }
#endif

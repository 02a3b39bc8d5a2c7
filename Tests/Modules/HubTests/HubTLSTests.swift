// SPDX-License-Identifier: Apache-2.0

#if Hub && HubTLS
  import Foundation
  import KeepsakeHubHTTP
  import TestSupport
  import Testing

  @Suite struct HubTLSTests {
    /// Runs a program on a thread that no task of the server needs.
    private func run(_ program: String, _ arguments: [String]) async throws -> Ending {
      let path = try Command.find(program)
      return try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(with: Result { try Command.run(path, arguments) })
        }
      }
    }

    private func make(_ certificate: String, _ key: String) async throws {
      let made = try await run(
        "openssl",
        [
          "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
          "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
        ])
      #expect(made.code == 0, "\(made)")
    }

    @Test func aHubWithACertificateSpeaksTLSWithClientsThatTrustIt() async throws {
      let folder = try Folder()
      let (certificate, key) = ("\(folder.path)/hub.pem", "\(folder.path)/hub.key")
      try await make(certificate, key)
      try await RunningHub.with {
        ($0.certificate, $0.key) = (certificate, key)
      } _: { hub in
        let words = ["-sS", "--resolve", "localhost:\(hub.port):127.0.0.1"]
        let place = ["https://localhost:\(hub.port)/health"]
        let trusting = try await run("curl", words + ["--cacert", certificate] + place)
        #expect(trusting == Ending(stdout: "ok\n"), "\(trusting)")
        // 60: the system does not trust the signer of the certificate.
        #expect(try await run("curl", words + place).code == 60)
        // A new certificate needs no restart, and one that cannot be read ends nothing.
        let old = certificate + ".old"
        try FileManager.default.copyItem(atPath: certificate, toPath: old)
        try await make(certificate, key)
        let renewed = try await run("curl", words + ["--cacert", certificate] + place)
        #expect(renewed == Ending(stdout: "ok\n"), "\(renewed)")
        try FileManager.default.removeItem(atPath: key)
        let kept = try await run("curl", words + ["--cacert", old] + place)
        #expect(kept == Ending(stdout: "ok\n"), "\(kept)")
      }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if Hub && HubTLS
  import Logging
  import NIOSSL

  /// PEM files of a certificate with its chain, and of its key. They are read for each handshake,
  /// so a hub that runs uses new ones.
  struct CertificateFiles: Sendable {
    let certificate: String
    let key: String

    /// - Throws: `HubServerError` if the files cannot be read now. If they cannot be read later, a
    ///   handshake uses what was read now.
    func configuration(_ logger: Logger) throws -> TLSConfiguration {
      var tls = TLSConfiguration.makeServerConfiguration(
        certificateChain: try chain(), privateKey: try privateKey())
      tls.minimumTLSVersion = .tlsv12
      tls.sslContextCallback = { [self] _, promise in
        do {
          var pair = NIOSSLContextConfigurationOverride()
          (pair.certificateChain, pair.privateKey) = (try chain(), try privateKey())
          promise.succeed(pair)
        } catch {
          logger.error("the certificate cannot be read", metadata: ["problem": "\(error)"])
          promise.succeed(.noChanges)
        }
      }
      return tls
    }

    private func chain() throws -> [NIOSSLCertificateSource] {
      try Self.read(certificate) {
        try NIOSSLCertificate.fromPEMFile($0).map { .certificate($0) }
      }
    }

    private func privateKey() throws -> NIOSSLPrivateKeySource {
      .privateKey(try Self.read(key) { try NIOSSLPrivateKey(file: $0, format: .pem) })
    }

    /// Adds the file's name to an error of the library, which lacks it.
    static func read<Value>(_ file: String, _ body: (String) throws -> Value) throws -> Value {
      do {
        return try body(file)
      } catch {
        throw HubServerError.noCertificate(file: file, "\(error)")
      }
    }
  }
#endif

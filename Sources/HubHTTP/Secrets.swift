// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation

  /// Tokens, codes and the operator's secret: text of 32 random bytes.
  package enum Secrets {
    /// 43 characters, base64url without padding.
    package static func random() -> String {
      Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func hash(_ secret: String) -> [UInt8] { SHA256.hash(secret) }

    /// Whether both are equal, in a time that does not tell where they differ.
    static func areEqual(_ a: String, _ b: String) -> Bool {
      zip(hash(a), hash(b)).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
  }
#endif

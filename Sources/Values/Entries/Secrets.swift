// SPDX-License-Identifier: Apache-2.0

/// Tokens, codes and the operator's secret of a hub: 32 random bytes as text.
package enum Secrets {
  /// 43 characters, base64url without padding.
  package static func random() -> String {
    Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Whether a text has the form of `random()`.
  package static func isSecret(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 43
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      }
  }
}

// SPDX-License-Identifier: Apache-2.0

#if Hub
  /// The hash of a token, with its account.
  struct AccountToken: Sendable, Hashable {
    let account: Int64
    let hash: [UInt8]

    init(_ text: String, account: Int64) {
      (self.account, hash) = (account, SHA256.hash("\(account) \(text)"))
    }
  }
#endif

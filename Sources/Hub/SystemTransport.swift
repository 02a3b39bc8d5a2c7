// SPDX-License-Identifier: Apache-2.0

/// The transport of this system. Both do the same.
enum SystemTransport {
  static func make() -> any HubTransport {
    #if os(Linux)
      return CurlTransport()
    #else
      return URLSessionTransport()
    #endif
  }
}

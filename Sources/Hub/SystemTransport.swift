// SPDX-License-Identifier: Apache-2.0

/// The transport of this system: libcurl on Linux, URLSession elsewhere, and in a process of Linux
/// that has no libcurl (a wholly static one). Both do the same.
enum SystemTransport {
  static func make() -> any HubTransport {
    #if os(Linux)
      if let transport = CurlTransport() { return transport }
    #endif
    return URLSessionTransport()
  }
}

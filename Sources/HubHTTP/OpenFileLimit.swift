// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation

  /// The limit of open files of this process.
  package enum OpenFileLimit {
    /// Descriptors for the database, the log, metrics, and connections that are being accepted.
    private static let reserve = 64
    /// The maximum number of connections to metrics.
    static let metricsConnections = 16

    /// Raises the soft limit to the hard one: at the limit no connection can be accepted, and the
    /// server would retry without end.
    ///
    /// - Returns: how many of the wanted connections it allows.
    package static func connections(wanted: Int) -> Int {
      var limit = rlimit()
      #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #else
        let resource = RLIMIT_NOFILE
      #endif
      guard getrlimit(resource, &limit) == 0 else { return wanted }
      if limit.rlim_cur < limit.rlim_max {
        let raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        if withUnsafePointer(to: raised, { setrlimit(resource, $0) }) == 0 { limit = raised }
      }
      let allowed = Int(clamping: limit.rlim_cur)
      return max(1, min(wanted, allowed - reserve))
    }
  }
#endif

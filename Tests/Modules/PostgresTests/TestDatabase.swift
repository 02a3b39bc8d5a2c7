// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  /// A database for one test.
  struct TestDatabase {
    let cluster: Cluster
    let name: String

    init(of cluster: Cluster? = nil) throws {
      self.cluster = try cluster ?? Cluster.shared.get()
      name = try self.cluster.database()
    }

    var url: String { cluster.url(name) }

    @discardableResult
    func shell(_ sql: String) throws -> String { try cluster.shell(sql, in: name) }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import CPostgres
  package import KeepsakeHubServer

  /// The address of the servers in libpq's form: `postgresql://user@a,b/keepsake`.
  package struct PostgresAddress: Sendable {
    let text: String
    /// Hosts and database, without user and password.
    let name: String

    package init(_ text: String) throws(HubStoreError) {
      var problem: UnsafeMutablePointer<CChar>?
      guard text.contains("://"), let options = PQconninfoParse(text, &problem) else {
        // libpq's message may quote a password that was not encoded.
        PQfreemem(problem)
        throw .broken(
          "the address of PostgreSQL cannot be read; write postgresql://USER@HOST,HOST/DATABASE, "
            + "and %XX for signs that have a meaning in addresses")
      }
      defer { PQconninfoFree(options) }
      var values: [String: String] = [:]
      var option = options
      while let keyword = option.pointee.keyword {
        if let value = option.pointee.val {
          values[String(cString: keyword)] = String(cString: value)
        }
        option += 1
      }
      self.text = text
      let hosts = values["host"] ?? values["hostaddr"] ?? "localhost"
      name = "PostgreSQL at \(hosts), database \(values["dbname"] ?? "of the user")"
    }

    /// Defaults that the address may override: only a server that accepts writes is used, and one
    /// that does not answer is not waited for.
    static let defaults = [
      ("target_session_attrs", "read-write"), ("connect_timeout", "3"),
      ("application_name", "keepsake-hub"), ("keepalives_idle", "10"),
      ("keepalives_interval", "3"), ("keepalives_count", "3"), ("tcp_user_timeout", "15000"),
    ]
  }
#endif

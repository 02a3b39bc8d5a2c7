// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import CPostgres
  import KeepsakeHubServer

  /// Rows that a statement returned, in PostgreSQL's binary form.
  package final class PostgresResult {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    package var count: Int { Int(PQntuples(result)) }

    /// All rows.
    var cells: [[HubCell]] {
      (0..<count).map { row in
        (0..<PQnfields(result)).map { column in
          let isNumber = PQftype(result, column) == Self.bigint
          return isNumber ? .number(number(row, column)) : .bytes(Array(bytes(row, column)))
        }
      }
    }

    /// PostgreSQL's ID of the type.
    private static let bigint: Oid = 20

    /// The command that the server has executed, such as `COMMIT`.
    var tag: String { String(cString: PQcmdStatus(result)) }

    func bytes(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(
        start: PQgetvalue(result, Int32(row), column),
        count: Int(PQgetlength(result, Int32(row), column)))
    }

    func number(_ row: Int, _ column: Int32) -> Int64 {
      let bytes = bytes(row, column)
      return bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : 0
    }

    package func text(_ row: Int, _ column: Int32) -> String {
      String(decoding: bytes(row, column), as: UTF8.self)
    }
  }
#endif

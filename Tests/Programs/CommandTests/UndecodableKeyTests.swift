// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct UndecodableKeyTests {
  /// Adds entries to the `cloud` store of a file whose keys are no UTF-8: 0xF8, then a number.
  private static let script = """
    import sqlite3, sys
    file = sqlite3.connect(sys.argv[1])
    file.execute('''
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO entry SELECT 'cloud', CAST(x'F8' || CAST(printf('%08d', i) AS BLOB) AS TEXT),
        2, i, i << 16, (SELECT id FROM replica), i + 1 FROM n''', (int(sys.argv[2]),))
    file.commit()
    """

  @Test func aMergeOfMoreKeysThanOneTransactionTakesEndsThoughTheyAreNoText() throws {
    let folder = try Folder()
    for name in ["a", "b"] { try folder.must("set", name, name, "1") }
    try folder.shell("python3", "-c", Self.script, "b", "120000")
    try folder.must("merge", "a", "b", "--quiet")
    let keys = "SELECT count(*), count(DISTINCT key) FROM entry WHERE substr(hex(key), 1, 2) = 'F8'"
    for name in ["a", "b"] { #expect(try folder.shell("sqlite3", name, keys) == "120000|120000\n") }
  }
}

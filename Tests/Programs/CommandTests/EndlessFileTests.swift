// SPDX-License-Identifier: Apache-2.0
//
// A small file whose pages refer to each other so that its rows are more than anybody can read.

import Foundation
import TestSupport
import Testing

@Suite struct EndlessFileTests {
  private let folder: Folder

  init() throws {
    folder = try Folder.furnished()
    try folder.must("set", "bad", "k", "v", Moment.ten.argument)
  }

  /// Appends levels of pages, each of which has every cell point to the next, down to the old
  /// root of a table. https://www.sqlite.org/fileformat2.html#b_tree_pages
  private static let crafting = """
    import sqlite3, struct, sys
    connection = sqlite3.connect("bad")
    query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
    (root,) = connection.execute(query, sys.argv[1:2]).fetchone()
    connection.close()
    data = bytearray(open("bad", "rb").read())
    size = struct.unpack(">H", data[16:18])[0]
    page = lambda n: data[(n - 1) * size:n * size]
    old = page(root)
    assert old[0] in (10, 13), "one leaf"
    start = struct.unpack(">H", old[8:10])[0]
    length = old[start] + 1
    # A table with row numbers has a number in each cell, any other the row itself.
    cell = bytes(old[start:start + length]) if old[0] == 10 else bytes([1])
    length = len(cell)
    count = len(data) // size
    levels = int(sys.argv[2])
    def interior(child):
        made, pointers, place = bytearray(size), [], size
        while place - length - 4 > 12 + 2 * len(pointers) + 2:
            place -= length + 4
            made[place:place + length + 4] = struct.pack(">I", child) + cell
            pointers.append(place)
        made[0:12] = struct.pack(">BHHHBI", old[0] - 8, 0, len(pointers), place, 0, child)
        made[12:12 + 2 * len(pointers)] = b"".join(struct.pack(">H", p) for p in pointers)
        return made
    for level in range(levels):
        data += interior(count + level + 2)
    data += old
    data[(root - 1) * size:root * size] = interior(count + 1)
    data[28:32] = struct.pack(">I", len(data) // size)
    open("bad", "wb").write(data)
    """

  /// The commands that read all entries; the others end earlier.
  private static let readers: [FileCommand] =
    [.list, .export, .clone, .compact, .diffFirst, .diffLast] + FileCommand.merges

  @Test(
    arguments: Seeds.rounds(
      FileCommand.allCases.filter { $0 != .watch },
      debug: [.get, .export, .doctor, .diffFirst, .compact, .mergeFirst]))
  func everyCommandEndsOnIt(_ command: FileCommand) throws {
    try folder.shell("python3", "-c", Self.crafting, "entry", "12")
    let size = try folder.url("bad").resourceValues(forKeys: [.fileSizeKey]).fileSize
    #expect(try #require(size) < 99_999)
    let ending = try folder.run(command.arguments("bad") + [Moment.twelve.argument])
    #expect([0, 1, 64, 65].contains(ending.code), "\(ending)")
    if command == .doctor {
      #expect(ending.code == 1 && ending.stdout.hasPrefix("integrity: "), "\(ending)")
    } else if Self.readers.contains(command) {
      #expect(ending.code == 65 && ending.stderr.hasPrefix("kvsync: bad: "), "\(ending)")
    }
  }

  /// These end before they take too long.
  @Test(arguments: [FileCommand.export, .list])
  func noCommandPrintsMoreRowsThanTheFileCanHold(_ command: FileCommand) throws {
    try folder.shell("python3", "-c", Self.crafting, "entry", "2")
    let ending = try folder.run(command.arguments("bad"))
    #expect(ending.code == 65, "\(ending.code)")
    #expect(ending.stderr.contains("its pages hold an entry twice"), "\(ending.stderr)")
  }

  @Test(
    arguments: Seeds.rounds(
      [FileCommand.doctor, .compact, .mergeFirst, .mergeLast], debug: [.doctor, .mergeLast]))
  func aListOfMigrationsWithoutEndEndsEveryCheck(_ command: FileCommand) throws {
    try folder.shell("python3", "-c", Self.crafting, "migration", "12")
    let ending = try folder.run(command.arguments("bad"))
    #expect([1, 65].contains(ending.code), "\(ending)")
  }
}

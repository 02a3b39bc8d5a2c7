// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A flat table of defaults.
let defaultsTable = """
  <?xml version="1.0" encoding="UTF-8"?>
  <plist version="1.0">
  <dict>
    <key>theme</key>
    <string>light</string>
    <key>volume</key>
    <real>0.5</real>
  </dict>
  </plist>
  """

@Suite struct GetTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  @Test func getPrefersWhatWasSetToTheSeed() throws {
    try folder.write(defaultsTable, to: "table.plist")
    try folder.must("seed", "a", "table.plist")
    let seed = #"{"type":"string","value":"light","source":"table.plist:5"}"#
    try folder.expect("get", "a", "theme", "--store", "defaults", prints: "light\n")
    try folder.expect("get", "a", "theme", "--store", "defaults", "--json", prints: seed + "\n")
    try folder.expect(
      "get", "a", "theme",
      says: "kvsync: a: no key \"theme\" in store cloud; store defaults has it\n", code: 1)
    try folder.must("set", "a", "theme", "sepia", Moment(hour: 9).argument)
    try folder.expect(
      "get", "a", "theme", "--store", "defaults", "--stored",
      says: "kvsync: a: no key \"theme\" in store defaults; store cloud has it\n", code: 1)
    try folder.must("set", "a", "theme", "dark", "--store", "defaults", Moment.ten.argument)
    try folder.expect("get", "a", "theme", "--store", "defaults", prints: "dark\n")
    try folder.expect(
      "get", "a", "theme", "--store", "defaults", "--stored", "--json",
      prints: Moment.ten.entry("string", #""dark""#, try folder.replica("a")) + "\n")
    try folder.must("delete", "a", "theme", "--store", "defaults")
    try folder.expect("get", "a", "theme", "--store", "defaults", prints: "light\n")
  }

  @Test func anAbsentKeyIsOneAndNamesTheStoresThatHaveIt() throws {
    try folder.must("set", "a", "k", "v", "--store", "cloud:work")
    let none = "kvsync: a: no key \"x\" in store cloud; no other store of this device has it\n"
    try folder.expect("get", "a", "x", says: none, code: 1)
    try folder.must("set", "a", "x", "v")
    try folder.must("delete", "a", "x")
    try folder.expect("get", "a", "x", "--json", prints: "null\n", says: none, code: 1)
    let one = "kvsync: a: no key \"k\" in store cloud; store cloud:work has it\n"
    try folder.expect("get", "a", "k", says: one, code: 1)
    try folder.must("set", "a", "k", "v", "--store", "defaults")
    let two =
      "kvsync: a: no key \"k\" in store cloud; store cloud:work, store defaults have it\n"
    try folder.expect("get", "a", "k", says: two, code: 1)
    try folder.expect("get", "a", "k", "--quiet", code: 1)
  }
}

@Suite struct ListTests {
  /// Two stores with three entries, a tombstone, and two seeds; and its replica.
  private func filled() throws -> (Folder, String) {
    let folder = try Folder()
    try folder.must("set", "a", "theme", "dark", Moment.ten.argument)
    try folder.must("set", "a", "tab\tbed", "x", Moment.ten.argument)
    try folder.must(
      "set", "a", "volume", "0.5", "--type", "real", "--store", "defaults",
      Moment.eleven.argument)
    try folder.must("set", "a", "gone", "x", Moment.ten.argument)
    try folder.must("delete", "a", "gone", Moment.eleven.argument)
    try folder.write(defaultsTable, to: "table.plist")
    try folder.must("seed", "a", "table.plist")
    return (folder, try folder.replica("a"))
  }

  @Test func listHasALineForEachKeyInTheOrderOfBytes() throws {
    let (folder, _) = try filled()
    let cloud = "cloud\t\"tab\\tbed\"\tstring\t\"x\"\ncloud\ttheme\tstring\t\"dark\"\n"
    let own = "defaults\tvolume\treal\t0.5\n"
    try folder.expect("list", "a", prints: cloud + own)
    try folder.expect("list", "a", "--store", "cloud", prints: cloud)
    try folder.expect("list", "a", "--store", "nowhere")
    try folder.expect("list", "a", "--prefix", "v", prints: own)
    try folder.expect("list", "a", "--prefix", "the", "--store", "defaults")
    try folder.expect("list", "a", "--deleted", prints: "cloud\tgone\tdeleted\t\n" + cloud + own)
    try folder.expect(
      "list", "a", "--store", "defaults", "--defaults",
      prints: own + "defaults\ttheme\tstring\t\"light\"\tdefault, table.plist:5\n"
        + "defaults\tvolume\treal\t0.5\tdefault, table.plist:7\n")
  }

  @Test func listAsJSONHasTheShapeOfTheContract() throws {
    let (folder, replica) = try filled()
    // A timestamp never falls, so a write at ten that follows one at eleven counts on from there.
    let tab = #""tab\tbed":"# + Moment.ten.entry("string", #""x""#, replica, 1)
    let theme = #""theme":"# + Moment.ten.entry("string", #""dark""#, replica)
    let volume = #""volume":"# + Moment.eleven.entry("real", "0.5", replica)
    let gone = #""gone":"# + Moment.eleven.tombstone(replica, 2)
    let head = #"{"replica":"\#(replica)","stores":"#
    try folder.expect(
      "list", "a", "--json",
      prints: head + "{\"cloud\":{\(tab),\(theme)},\"defaults\":{\(volume)}}}\n")
    try folder.expect(
      "list", "a", "--json", "--deleted", "--store", "cloud",
      prints: head + "{\"cloud\":{\(gone),\(tab),\(theme)}}}\n")
    try folder.expect(
      "list", "a", "--json", "--prefix", "theme", prints: head + "{\"cloud\":{\(theme)}}}\n")
    try folder.expect("list", "a", "--json", "--store", "none", prints: head + "{}}\n")
    let light = #""theme":{"type":"string","value":"light","source":"table.plist:5"}"#
    let half = #""volume":{"type":"real","value":0.5,"source":"table.plist:7"}"#
    try folder.expect(
      "list", "a", "--json", "--defaults", "--store", "defaults",
      prints: head + "{\"defaults\":{\(volume)}},\"defaults\":{\"defaults\":{\(light),\(half)}}}\n")
    try folder.expect(
      "list", "a", "--json", "--defaults", "--prefix", "gone",
      prints: head + "{},\"defaults\":{}}\n")
  }

  @Test func readingWritesNothing() throws {
    let (folder, _) = try filled()
    let before = try folder.digests("a")
    try folder.must("list", "a", "--json", "--defaults", "--deleted")
    try folder.must("get", "a", "theme")
    #expect(try folder.digests("a") == before)
    #expect(try folder.names() == ["a", "table.plist"])
  }
}

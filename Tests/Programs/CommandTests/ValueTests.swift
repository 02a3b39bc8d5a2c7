// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A word on the command line, and what it reads as.
private struct Spelling: Sendable {
  let type: String
  let word: String
  let plain: String
  let kind: String
  let json: String

  /// - Parameters:
  ///   - plain: what `get` prints, without the line break; nil: the word.
  ///   - kind: the type in `--json`; nil: the one asked for.
  ///   - json: the value in `--json`; nil: as plain.
  init(
    _ type: String, _ word: String, _ plain: String? = nil, kind: String? = nil,
    json: String? = nil
  ) {
    self.type = type
    self.word = word
    self.plain = plain ?? word
    self.kind = kind ?? type
    self.json = json ?? plain ?? word
  }
}

private let spellings: [Spelling] = [
  Spelling("string", "dark", json: #""dark""#),
  Spelling("string", "", json: #""""#),
  Spelling("string", "-5", json: #""-5""#),
  Spelling("string", "--json", json: #""--json""#),
  Spelling(
    "string", "two\nlines\r\n\tand \"quotes\" \\",
    json: #""two\nlines\r\n\tand \"quotes\" \\""#),
  Spelling("string", "e\u{301} \u{e9} 👩‍👩‍👧", json: "\"e\u{301} \u{e9} 👩‍👩‍👧\""),
  Spelling("string", "\u{1}\u{7f}", json: #""\u0001\u007f""#),
  Spelling("integer", "0"),
  Spelling("integer", "-3"),
  Spelling("integer", "9223372036854775807"),
  Spelling("integer", "-9223372036854775808"),
  Spelling("real", "0.1"),
  Spelling("real", "1", "1.0"),
  Spelling("real", "-0.0", "0.0"),
  Spelling("real", "5e-324"),
  Spelling("real", "1e300", "1e+300"),
  Spelling("real", "nan", json: #""nan""#),
  Spelling("real", "inf", json: #""inf""#),
  Spelling("real", "-inf", json: #""-inf""#),
  Spelling("boolean", "true"),
  Spelling("boolean", "yes", "true"),
  Spelling("boolean", "YES", "true"),
  Spelling("boolean", "1", "true"),
  Spelling("boolean", "false"),
  Spelling("boolean", "no", "false"),
  Spelling("boolean", "0", "false"),
  Spelling("date", "2026-11-20T10:00:00.123Z", json: #""2026-11-20T10:00:00.123Z""#),
  Spelling(
    "date", "2026-11-20T10:00:00+02:00", "2026-11-20T08:00:00.000Z",
    json: #""2026-11-20T08:00:00.000Z""#),
  Spelling("date", "1969-12-31T23:59:59.999Z", json: #""1969-12-31T23:59:59.999Z""#),
  Spelling("data", "AAEC/w==", json: #""AAEC/w==""#),
  Spelling("data", "", json: #""""#),
  Spelling("json", "[]", kind: "array"),
  Spelling("json", "{}", kind: "dictionary"),
  Spelling("json", #"[1,2.0,"x",true,[],{"$real":"nan"}]"#, kind: "array"),
  Spelling(
    "json", #"[{"$date":"2026-11-20T10:00:00Z"},{"$data":"AAEC"}]"#,
    #"[{"$date":"2026-11-20T10:00:00.000Z"},{"$data":"AAEC"}]"#, kind: "array"),
  Spelling(
    "json", #" { "b" : 1 , "a" : { "c" : {"$date":"2026-11-20T10:00:00.123Z"} } } "#,
    #"{"a":{"c":{"$date":"2026-11-20T10:00:00.123Z"}},"b":1}"#, kind: "dictionary"),
  Spelling("json", "12", kind: "integer"),
  Spelling("json", "12.0", kind: "real"),
  Spelling("json", "false", kind: "boolean"),
  Spelling("json", #""text""#, "text", kind: "string", json: #""text""#),
]

/// A word that is not of its type, and what is said of it.
struct Misspelling: CustomTestStringConvertible, Sendable {
  let type: String
  let words: [String]
  let complaint: String

  static func json(_ column: Int, _ problem: String, _ words: String...) -> Misspelling {
    Misspelling(
      type: "json", words: words,
      complaint: "the value is not JSON: column \(column): \(problem); fix it")
  }

  var testDescription: String { "\(type) \(words.map { $0.prefix(40) })" }
}

private let misspellings: [Misspelling] = [
  Misspelling(
    type: "integer", words: ["", "1.0", " 1", "9223372036854775808"],
    complaint: "the value is not of type integer; write digits, "
      + "from -9223372036854775808 to 9223372036854775807"),
  Misspelling(
    type: "real", words: ["", "1,5", "NaN", "1e400"],
    complaint: "the value is not of type real; write a number, or nan, inf, -inf"),
  Misspelling(
    type: "boolean", words: ["", "ja", "2"],
    complaint: "the value is not of type boolean; write true, false, yes, no, 1 or 0"),
  Misspelling(
    type: "date", words: ["", "2026-02-30", "2026-11-20T10:00:00"],
    complaint: "the value is not of type date; write it as 2026-11-20T10:00:00.000Z"),
  Misspelling(
    type: "data", words: ["A", "a b"],
    complaint: "the value is not of type data; write base64"),
  .json(4, "the text ends before a value", "[1,"),
  .json(1, "the text ends before a value", ""),
  .json(1, "this is not a JSON value", "NaN", "'x'", "yes"),
  .json(3, "unexpected text after the value", "1 2", "[]]"),
  .json(1, "a number has no leading zero", "01", "-01"),
  .json(3, "expected a digit", "1.", "1e"),
  .json(1, "this number is too large", "1e400"),
  .json(1, "this integer does not fit 64 bits", "9223372036854775808"),
  .json(4, "this is not a JSON value", "[1,]"),
  .json(2, "expected a member name in quotes", "{1:2}", "{a:1}"),
  .json(8, "duplicate name", #"{"a":1,"a":2}"#),
  .json(6, "expected :", #"{"a" 1}"#),
  .json(3, "unterminated string", #""x"#),
  .json(2, "unknown escape", #""\x""#, #""\q""#),
  .json(2, "unpaired surrogate", #""\udc00""#, #""\ud800\u0041""#),
  .json(3, "unescaped control character", "\"a\tb\""),
  .json(132, "nested deeper than 131 levels", String(repeating: "[", count: 50_000)),
  Misspelling(
    type: "json", words: [String(repeating: "[", count: 65) + String(repeating: "]", count: 65)],
    complaint: "the JSON cannot be stored: "
      + "arrays and dictionaries nest deeper than 64 levels; flatten them"),
  Misspelling(
    type: "json", words: ["null", "[null]"],
    complaint: "the JSON cannot be stored: null is not a value; delete the key instead"),
  Misspelling(
    type: "json", words: [#"{"$x":1}"#],
    complaint: "the JSON cannot be stored: a dictionary whose one key starts with $ is a marker; "
      + "use $date, $data, $real or $dictionary"),
]

@Suite struct ValueTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  @Test func theFirstMomentHasTheTimestampOfTheContract() {
    #expect(Moment.ten.timestamp() == "01a1f8660d000000")
  }

  @Test(arguments: ["string", "integer", "real", "boolean", "date", "data", "json"])
  func everySpellingOfAValueComesBackInTextAndJSON(_ type: String) throws {
    var (lines, members): ([String], [(String) -> String]) = ([], [])
    for (counter, spelling) in spellings.filter({ $0.type == type }).enumerated() {
      let key = "key\(counter)"
      try folder.expect("set", "a", key, "--type", type, Moment.ten.argument, "--", spelling.word)
      try folder.expect("get", "a", key, prints: spelling.plain + "\n")
      lines.append("cloud\t\(key)\t\(spelling.kind)\t\(spelling.json)\n")
      members.append { Moment.ten.entry(spelling.kind, spelling.json, $0, counter) }
    }
    let replica = try folder.replica("a")
    try folder.expect("list", "a", prints: lines.joined())
    let entries = members.map { $0(replica) }
    try folder.expect("get", "a", "key1", "--json", prints: entries[1] + "\n")
    let list = entries.enumerated().map { "\"key\($0)\":\($1)" }.joined(separator: ",")
    try folder.expect(
      "list", "a", "--json",
      prints: #"{"replica":"\#(replica)","stores":{"cloud":{\#(list)}}}"# + "\n")
  }

  @Test(arguments: misspellings)
  func aValueOfAnotherTypeIsRefusedAndNothingIsMade(_ bad: Misspelling) throws {
    for word in bad.words {
      try folder.expect(
        "set", "a", "k", "--type", bad.type, "--", word, says: "kvsync: a: \(bad.complaint)\n",
        code: 64)
    }
    #expect(try folder.names() == [])
  }

  @Test func setPrintsTheEntryOnlyAsJSON() throws {
    try folder.expect("set", "a", "k", "v", "--at", "\(Moment.ten.milliseconds)")
    let replica = try folder.replica("a")
    // A second write in the same millisecond has the next timestamp.
    try folder.expect(
      "set", "a", "k", "w", "--json", Moment.ten.argument,
      prints: Moment.ten.entry("string", #""w""#, replica, 1) + "\n")
    // A clock that stands back never makes a write lose to its own past.
    try folder.expect(
      "set", "a", "k", "x", "--json", "--at", "0",
      prints: Moment.ten.entry("string", #""x""#, replica, 2) + "\n")
  }

  @Test func deletePrintsTheTombstoneOnlyAsJSON() throws {
    for store in ["cloud", "defaults"] {
      try folder.must("set", "a", "k", "v", "--store", store, Moment.ten.argument)
    }
    let tombstone = Moment.eleven.tombstone(try folder.replica("a"))
    try folder.expect(
      "delete", "a", "k", "--json", Moment.eleven.argument, prints: tombstone + "\n")
    try folder.expect("delete", "a", "k", "--store", "defaults", Moment.eleven.argument)
    try folder.expect("list", "a")
  }

  @Test func keysThatOnlyLookTheSameAreTwoKeys() throws {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
    try folder.must("set", "a", composed, "1", Moment.ten.argument)
    try folder.must("set", "a", decomposed, "2", Moment.ten.argument)
    try folder.expect("get", "a", composed, prints: "1\n")
    try folder.expect("get", "a", decomposed, prints: "2\n")
    try folder.expect(
      "list", "a",  // In the order of their bytes.
      prints: "cloud\t\(decomposed)\tstring\t\"2\"\ncloud\t\(composed)\tstring\t\"1\"\n")
    try folder.must("delete", "a", composed)
    try folder.expect("list", "a", prints: "cloud\t\(decomposed)\tstring\t\"2\"\n")
  }

  @Test func aSetOfAnotherTypeWarns() throws {
    try folder.expect("set", "m", "runs", "5", "--type", "integer")
    let says =
      "kvsync: m: cloud/runs was an integer and is a string now; "
      + "to keep the type, write --type integer\n"
    try folder.expect("set", "m", "runs", "5", says: says)
    try folder.expect("set", "m", "runs", "6")
    try folder.expect("set", "m", "runs", "5", "--type", "integer", "--quiet")
    try folder.expect("set", "m", "runs", "[1]", "--type", "json", "--quiet")
    try folder.expect(
      "set", "m", "runs", "1", "--type", "json",
      says: "kvsync: m: cloud/runs was an array and is an integer now; "
        + "to keep the type, write --type json\n")
    try folder.must("delete", "m", "runs")
    try folder.expect("set", "m", "runs", "x")
  }
}

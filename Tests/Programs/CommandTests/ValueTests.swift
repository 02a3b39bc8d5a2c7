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
    type: "boolean", words: ["", "TRUE", "2"],
    complaint: "the value is not of type boolean; write true, false, yes, no, 1 or 0"),
  Misspelling(
    type: "date", words: ["", "2026-02-30", "2026-11-20T10:00:00"],
    complaint: "the value is not of type date; write it as 2026-11-20T10:00:00.000Z"),
  Misspelling(
    type: "data", words: ["A", "a b"],
    complaint: "the value is not of type data; write base64"),
  Misspelling(
    type: "json", words: ["[1,"],
    complaint: "the value is not JSON: column 4: the text ends before a value; fix it"),
  Misspelling(
    type: "json", words: [""],
    complaint: "the value is not JSON: column 1: the text ends before a value; fix it"),
  Misspelling(
    type: "json", words: ["NaN", "'x'", "yes"],
    complaint: "the value is not JSON: column 1: this is not a JSON value; fix it"),
  Misspelling(
    type: "json", words: ["1 2", "[]]"],
    complaint: "the value is not JSON: column 3: unexpected text after the value; fix it"),
  Misspelling(
    type: "json", words: ["01", "-01"],
    complaint: "the value is not JSON: column 1: a number has no leading zero; fix it"),
  Misspelling(
    type: "json", words: ["1.", "1e"],
    complaint: "the value is not JSON: column 3: expected a digit; fix it"),
  Misspelling(
    type: "json", words: ["1e400"],
    complaint: "the value is not JSON: column 1: this number is too large; fix it"),
  Misspelling(
    type: "json", words: ["9223372036854775808"],
    complaint: "the value is not JSON: column 1: this integer does not fit 64 bits; fix it"),
  Misspelling(
    type: "json", words: ["[1,]"],
    complaint: "the value is not JSON: column 4: this is not a JSON value; fix it"),
  Misspelling(
    type: "json", words: ["{1:2}", "{a:1}"],
    complaint: "the value is not JSON: column 2: expected a member name in quotes; fix it"),
  Misspelling(
    type: "json", words: [#"{"a":1,"a":2}"#],
    complaint: "the value is not JSON: column 8: duplicate name; fix it"),
  Misspelling(
    type: "json", words: [#"{"a" 1}"#],
    complaint: "the value is not JSON: column 6: expected :; fix it"),
  Misspelling(
    type: "json", words: [#""x"#],
    complaint: "the value is not JSON: column 3: unterminated string; fix it"),
  Misspelling(
    type: "json", words: [#""\x""#, #""\q""#],
    complaint: "the value is not JSON: column 2: unknown escape; fix it"),
  Misspelling(
    type: "json", words: [#""\udc00""#, #""\ud800\u0041""#],
    complaint: "the value is not JSON: column 2: unpaired surrogate; fix it"),
  Misspelling(
    type: "json", words: ["\"a\tb\""],
    complaint: "the value is not JSON: column 3: unescaped control character; fix it"),
  Misspelling(
    type: "json", words: [String(repeating: "[", count: 50_000)],
    complaint: "the value is not JSON: column 131: nested deeper than 130 levels; fix it"),
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
  @Test func theFirstMomentHasTheTimestampOfTheContract() {
    #expect(Moment.ten.timestamp() == "01a1f8660d000000")
  }

  @Test(arguments: ["string", "integer", "real", "boolean", "date", "data", "json"])
  func everySpellingOfAValueComesBackInTextAndJSON(_ type: String) throws {
    let folder = try Folder()
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
    let folder = try Folder()
    for word in bad.words {
      try folder.expect(
        "set", "a", "k", "--type", bad.type, "--", word, says: "kvsync: a: \(bad.complaint)\n",
        code: 64)
    }
    #expect(try folder.names() == [])
  }

  @Test func setPrintsTheEntryOnlyAsJSON() throws {
    let folder = try Folder()
    try folder.expect("set", "a", "k", "v", Moment.ten.argument)
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

  @Test func theClockMayBeMillisecondsSince1970() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", "--at", "\(Moment.ten.milliseconds)")
    let replica = try folder.replica("a")
    try folder.expect(
      "get", "a", "k", "--json", prints: Moment.ten.entry("string", #""v""#, replica) + "\n")
  }

  @Test func deleteLeavesATombstoneInASyncedStoreAndNothingInAnother() throws {
    let folder = try Folder()
    try folder.must("set", "a", "k", "v", Moment.ten.argument)
    try folder.must("set", "a", "k", "v", "--store", "defaults", Moment.ten.argument)
    let replica = try folder.replica("a")
    let tombstone = Moment.eleven.tombstone(replica)
    try folder.expect(
      "delete", "a", "k", "--json", Moment.eleven.argument, prints: tombstone + "\n")
    try folder.expect("delete", "a", "k", "--store", "defaults", Moment.eleven.argument)
    try folder.expect("list", "a")
    try folder.expect("list", "a", "--deleted", prints: "cloud\tk\tdeleted\t\n")
    try folder.expect(
      "list", "a", "--deleted", "--json",
      prints: #"{"replica":"\#(replica)","stores":{"cloud":{"k":\#(tombstone)}}}"# + "\n")
  }

  @Test func keysThatOnlyLookTheSameAreTwoKeys() throws {
    let folder = try Folder()
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

  @Test func aValueThatStartsWithADashFollowsTwo() throws {
    let folder = try Folder()
    try folder.expect(
      "set", "a", "k", "-5", "--type", "integer",
      says:
        "kvsync: a: missing expected argument '<value>'; a value that starts with - follows --\n",
      code: 64)
    #expect(try folder.names() == [])
    try folder.expect("set", "a", "k", "--type", "integer", "--", "-5")
    try folder.expect("get", "a", "k", prints: "-5\n")
  }

  @Test func aNULInsideATextSurvives() throws {
    let folder = try Folder()
    try folder.write(#"{"key":"k","type":"string","value":"a\u0000b"}"#, to: "in")
    try folder.must("import", "a", "in", Moment.ten.argument)
    let replica = try folder.replica("a")
    try folder.expect("get", "a", "k", prints: "a\u{0}b\n")
    try folder.expect(
      "get", "a", "k", "--json",
      prints: Moment.ten.entry("string", #""a\u0000b""#, replica) + "\n")
    try folder.must("merge", "a", "b", "--create")
    try folder.expect("get", "b", "k", prints: "a\u{0}b\n")
  }

  @Test func aSetOfAnotherTypeWarns() throws {
    let folder = try Folder()
    try folder.expect("set", "m", "runs", "5", "--type", "integer")
    let says = "kvsync: m: cloud/runs was an integer and is a string now; "
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

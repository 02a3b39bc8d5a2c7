# SPDX-License-Identifier: Apache-2.0
"""Defects that HubClientTests must find; Scripts/mutants describes the form."""

MERGE = r"^HubClientTests\.HubMergeTests"
HOSTILE = r"^HubClientTests\.HostileHubTests"
ANSWER = r"^HubClientTests\.AnswerTests"
LINES = "Sources/Hub/RowLines.swift"
CLIENT = "Sources/Hub/HubClient.swift"

MUTANTS = [
    ("hub-refusal-is-asked-again", "What a hub sends with a refusal is not used.", MERGE,
     ("Sources/Sync/Hub/HubSync.swift",
      "if let next, next.request == request { return next.answer }", "")),
    ("hub-refused-row-is-lost", "A row that a hub refuses for its size is not offered again.", MERGE,
     ("Sources/Sync/Hub/HubPush.swift", "try held.filter(", "try held.subtracting(channel.refused.numbers).filter(")),
    ("hub-clock-is-not-compared", "A hub whose clock is a day off is read.", MERGE,
     ("Sources/Sync/Hub/HubSync.swift",
      "guard abs(difference) > Self.clockDifference else { return }",
      "guard abs(difference) > 100 * Self.clockDifference else { return }")),
    ("hub-client-unconditional", "A device with nothing new gets an answer with a body.", MERGE,
     ("Sources/Hub/HTTPChannel.swift", "    if request.isConditional {",
      "    if request.isConditional, request.rows == 0 {")),
    ("hub-client-deletions", "A hub is not told which rows are deletions.", MERGE,
     (LINES, """      if row.entry.content.isTombstone { bytes += ",\\"deleted\\":true".utf8 }\n""", "")),
    ("hub-client-cut", "An answer that was cut off between two lines counts.", MERGE,
     (LINES, 'head["rows"] == .integer(Int64(lines.count - 1) - count)', 'head["rows"] != nil')),
    ("hub-client-order", "Rows whose numbers do not ascend are taken.", HOSTILE,
     (LINES, "guard number > lastNumber ?? 0 else {", "guard number > 0 else {")),
    ("hub-client-large", "A row that no device can have written is taken.", HOSTILE,
     (LINES, "      if !entry.content.isTombstone, let problem = EntrySize.problem(entry) {\n        throw ValueError(.invalid, problem)\n      }\n", "")),
    ("hub-client-part", "A member that cannot be read costs the page.", HOSTILE,
     (LINES, "guard let json = JSON.read(bytes) else { return }",
      "guard let json = JSON.read(bytes) else { throw JSONSlices.Malformed() }")),
    ("hub-client-skipped", "A device that could not read a row does not say so.", HOSTILE,
     (LINES, "        unreadable += 1\n", "        unreadable += 0\n")),
    ("hub-client-redirect", "A redirect is taken for the answer of another server.", ANSWER,
     (CLIENT, '    if 300...399 ~= status { return HubFailure.redirect(url, to: headers["location"]) }\n', "")),
    ("hub-client-endless", "An answer may be as long as a hub likes.", ANSWER,
     (CLIENT, "guard bytes.count + piece.count <= Self.limit else {",
      "guard bytes.count + piece.count <= 8 * Self.limit else {")),
    ("hub-client-slow", "An answer may take as long as it moves.", ANSWER,
     (CLIENT, "request.answerType == .events ? nil : now() + request.timeout + Self.deadline", "request.answerType == .events ? nil : now() + request.timeout + 99 * Self.deadline")),
    ("hub-client-hasty", "The answer to a large body has to come as soon as that to a small one.", ANSWER,
     (CLIENT, "HubClient.timeout + HubClient.time(for: body?.count ?? 0)", "HubClient.timeout")),
    ("hub-client-pause", "A pause that a hub asks for has no bound.", ANSWER,
     ("Sources/Hub/HubProblem.swift", "min(max($0, 0), Self.longestPause)",
      "max($0, 0 * Self.longestPause)")),
    ("hub-client-pages", "A hub may send pages for as long as it likes.", HOSTILE,
     ("Sources/Hub/HTTPChannel.swift",
      "end = hub.client.now() + Self.deadline", "end = hub.client.now() + Self.deadline * 9")),
    ("hub-client-rows", "A hub may send rows until the memory is full.", HOSTILE,
     ("Sources/Sync/Hub/HubSync.swift", "known.count <= mostRows", "known.count >= 0")),
    ("hub-client-polls", "A device with too many streams does not poll.",
     r"^HubClientTests\.PauseTests",
     ("Sources/Hub/EventStream.swift", '?.limit == "streams"', '?.limit == "rows"')),
]

# SPDX-License-Identifier: Apache-2.0
"""Defects that PageTests must find; Scripts/mutants describes the form."""

GATE = r"^PageTests\.GateTests"
WRITING = r"^PageTests\.WritingTests"
PAGE = r"^PageTests\.PageTests"

MUTANTS = [
    ("any-cookie", "The page accepts any session cookie.", GATE,
     ("Sources/Page/PageGate.swift",
      "cookieValue(request).map { Self.areEqual($0, session) } == true",
      "cookieValue(request) != nil")),
    ("merges-without-edit", "A read-only page can merge.", GATE,
     ("Sources/Page/PageEndpoints+Writing.swift", "      if !isDryRun { try checkEditable() }\n", "")),
    ("other-page-writes", "A page of another origin can write with our cookie.", GATE,
     ("Sources/Page/PageGate.swift", "isRead ? origin == nil || isOurs : isOurs", "origin == nil || isOurs")),
    ("text-is-markup", "A value is inserted as HTML.", PAGE,
     ("Sources/Page/shared.js",
      "{ result.append(text); return result; }",
      "return document.createRange().createContextualFragment(text);")),
    ("token-counts-twice", "The token of the address can be used twice.", GATE,
     ("Sources/Page/PageGate.swift",
      "return (!state.isTokenUsed, state.isOver)", "return (true, state.isOver)")),
    ("restores-over-newer", "A restore overwrites what was written since the page showed the conflict.",
     WRITING,
     ("Sources/Page/PageEndpoints+Writing.swift",
      """        try Self.check(body, try open.entry(address))
        guard""", "        guard")),
    ("same-look-is-same", "A text of other bytes that looks the same is taken for the stored one.", WRITING,
     ("Sources/Page/PageEndpoints+Writing.swift",
      "ByteText(Preview.text(value)) == ByteText(text)", "Preview.text(value) == text")),
    ("turns-text", "A character that changes the direction of text is not escaped.", PAGE,
     ("Sources/Page/shared.js", r"const unseen = /[\p{Cc}\p{Cf}", r"const unseen = /[\p{Cc}"),
     ("Sources/Page/shared.js", r"const split = /([\p{Cc}\p{Cf}", r"const split = /([\p{Cc}")),
]

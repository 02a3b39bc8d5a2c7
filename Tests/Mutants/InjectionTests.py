# SPDX-License-Identifier: Apache-2.0
"""Defects that InjectionTests must find; Scripts/mutants describes the form."""

MUTANTS = [
    ("deaf-to-its-parent", "A wait for a child's start does not notice that its parent has started.",
     ("Sources/Injection/Starting.swift",
      r"if starts.contains(where: \.isFinished) {", "if starts[0].isFinished {")),
    ("failed-for-good", "A container whose start failed never becomes ready.",
     ("Sources/Injection/Starting.swift", "    update { $0.failure = nil }\n", "")),
    ("first-primary", "The first of two primary registrations is chosen.",
     ("Sources/Injection/Container.swift", "primaries.count == 1 ? primaries[0] : nil", "primaries.first")),
    ("one-of-many", "The last of several registrations is chosen.",
     ("Sources/Injection/Container.swift", "all.count == 1 ? all[0] :", "!all.isEmpty ? all.last :")),
    ("parent-first", "A parent's registration comes before its child's.",
     ("Sources/Injection/Container.swift",
      r"sequence(first: self, next: \.parent)", r"Array(sequence(first: self, next: \.parent)).reversed()")),
    ("parent-is-there-too", "The parent also makes an object that its child replaces.",
     ("Sources/Injection/Container.swift",
      "{ !keys.contains($0.recipe.target) }", "{ !keys.contains($0.recipe.target) || true }")),
    ("twice-in-a-set", "A set contains an object twice if it is registered under two keys.",
     ("Sources/Injection/Container.swift",
      "    if place > 0, all[place - 1].origin === entry.origin { return }\n", "")),
]

# SPDX-License-Identifier: Apache-2.0
"""Defects that TestingTests must find; Scripts/mutants describes the form."""

MUTANTS = [
    ("alias-is-no-device", "A test's container keeps a device that is an alias of another object.",
     r"^TestingTests\.ForTestTests",
     ("Sources/Injection/Copying.swift",
      "entry.base?.recipe.target.id != replaced.id", "entry.base == nil")),
    ("opened-by-a-recipe", "A recipe of the application opens its file in a test.",
     r"^TestingTests\.ForTestTests",
     ("Sources/Device/FileRefusal.swift", "guard isRefused() else {", "guard false else {")),
    ("set-device-is-shared", "A test's container shares a store that was set.",
     r"^TestingTests\.ForTestTests",
     ("Sources/Testing/Container+Test.swift", " && !($0 is SettingsStore)", "")),
    ("tests-open-nothing", "A test's own recipe may not open a file.",
     r"^TestingTests\.ForTestTests",
     ("Sources/Injection/Registering.swift",
      "recipe.isCopiedForTest = Container.runsCopyForTest", "recipe.isCopiedForTest = true")),
    ("opened-by-a-childs-recipe", "What a recipe of the application registers opens its file in a test.",
     r"^TestingTests\.ForTestTests",
     ("Sources/Injection/Registering.swift",
      "    recipe.isCopiedForTest = Container.runsCopyForTest\n", "")),
]

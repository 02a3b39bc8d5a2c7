# SPDX-License-Identifier: Apache-2.0
"""Defects that ServerTests must find; Scripts/mutants describes the form."""

SERVICE = r"^ServerTests\.ServiceTests"

MUTANTS = [
    ("leaves-its-merge", "A service ends before the merge that it has begun.", SERVICE,
     ("Sources/Server/SyncService.swift", "await session.finish()", "withExtendedLifetime(session) {}")),
    ("unhandled-at-the-end", "Change sets that were received before the shutdown are not handled.", SERVICE,
     ("Sources/Server/ObservationService.swift",
      "if Task.isCancelled {", "if Task.isCancelled || Task.isShuttingDownGracefully {")),
]

# SPDX-License-Identifier: Apache-2.0
"""Defects that ServicesTests must find; Scripts/mutants describes the form."""

SERVICE = r"^ServicesTests\.ServiceTests"

MUTANTS = [
    ("leaves-its-merge", "A service ends before the merge that it has begun.", SERVICE,
     ("Sources/Services/SyncService.swift", "await session.finish()", "withExtendedLifetime(session) {}")),
    ("unhandled-at-the-end", "Change sets that were received before the shutdown are not handled.", SERVICE,
     ("Sources/Services/ObservationService.swift",
      "if Task.isCancelled {", "if Task.isCancelled || Task.isShuttingDownGracefully {")),
]

# SPDX-License-Identifier: Apache-2.0
"""Defects that HubClientTests must find; Scripts/mutants describes the form."""

MUTANTS = [
    ("hub-tie-is-known",
     "A write that loses to a hub's row with the same timestamp and origin is not logged.",
     ("Sources/Sync/Pull+Sender.swift", "isHub && row.integer(1) == 1", "false")),
]

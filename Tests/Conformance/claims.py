# SPDX-License-Identifier: Apache-2.0
"""What a hub has to do, each claim on accounts of its own."""

import time

from wire import Wrong, require

ALL = []


class Skipped(Exception):
    """Why a claim was not tried."""


def claim(text):
    def keep(function):
        ALL.append((text, function))
        return function
    return keep


def run(hub, only=None):
    """Prints a line for each claim; the number of those that do not hold."""
    failed = 0
    for text, function in ALL:
        if only and only not in text:
            continue
        began = time.monotonic()
        try:
            function(hub)
            result = "ok"
        except Skipped as reason:
            result, text = "skipped", f"{text}: {reason}"
        except (Wrong, KeyError, TypeError, ValueError, OSError, EOFError) as problem:
            failed += 1
            result, text = "FAILED", f"{text}: {type(problem).__name__}: {problem}"
        took = time.monotonic() - began
        print(f"{result:8}{text}" + (f" ({took:.0f} s)" if took > 5 else ""), flush=True)
    return failed

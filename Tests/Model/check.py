#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays random histories of the model, and compares every decision with the ground truth.

    check.py --histories 2000 [--seed 1] [--copies] [--noticed 0.9] [--future] [--forget]
             [--hub only|too|two] [--pages N] [--marks N] [--replicas N] [--large]
    check.py --one SEED ...                   prints one history
    check.py --json --seed N --histories K    writes histories as JSON lines, see README.md

  P1  after enough syncs all files are equal, and the last write of each key survives
  P2  no write wins over one that was made with knowledge of it
  P3  a sync with nothing new reads no row and writes nothing
  P4  a write that loses to a concurrent one is logged, and no other is
  P5  two files do not keep one replica ID, and no ID changes without a reason
  P6  a row from the reader's future is not applied
  P7  each change of a value is an event, and nothing else is
  P8  a store that is not synced makes no mark, and does not leave its file
  P9  no file believes that a peer has read more than it has
"""
import argparse
import sys

sys.dont_write_bytecode = True

import hub_scenarios  # noqa: E402, F401
import json_lines  # noqa: E402
import scenarios  # noqa: E402
import sync_model  # noqa: E402
import truth  # noqa: E402
from truth import COUNTS  # noqa: E402


def options_of(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", type=int, metavar="SEED", help="plays and prints one history")
    parser.add_argument("--stop", action="store_true", help="ends after the first that fails")
    parser.add_argument("--json", action="store_true", help="writes histories as JSON lines")
    parser.add_argument("--copies", action="store_true", help="copies and restores files and hubs")
    parser.add_argument("--noticed", type=float, default=0, metavar="P",
                        help="how often an opening notices a copy or a restore")
    parser.add_argument("--unnoticed", type=float, metavar="N",
                        help="unnoticed conflicts per history that are allowed")
    parser.add_argument("--invented", type=float, metavar="N",
                        help="conflicts per history that are allowed to be none")
    parser.add_argument("--future", action="store_true", help="clocks run ahead and are set right")
    parser.add_argument("--forget", action="store_true", help="old tombstones are dropped")
    parser.add_argument("--large", action="store_true", help="hubs refuse some values")
    parser.add_argument("--length", type=int, default=60, metavar="OPERATIONS")
    parser.add_argument("--pages", type=int, default=sync_model.PAGE, metavar="ROWS")
    parser.add_argument("--marks", type=int, default=sync_model.MARKS)
    parser.add_argument("--replicas", type=int, default=sync_model.REPLICAS)
    parser.add_argument("--tick", type=int, default=1, metavar="UNITS",
                        help="units of time in a second, of the JSON lines")
    parser.add_argument("--hub", choices=["only", "too", "two"])
    options = parser.parse_args(arguments)
    sync_model.PAGE, sync_model.MARKS = options.pages, options.marks
    sync_model.REPLICAS = options.replicas
    return options


def main(arguments=None):
    options = options_of(arguments)
    seeds = range(options.seed, options.seed + options.histories)
    if options.json:
        return json_lines.write(seeds, options)
    truth.watch()
    truth.WORLD = truth.CheckedWorld(0, options)
    wrong = list(scenarios.run(truth.WORLD))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    if wrong and options.stop:
        sys.exit(1)
    failing, faults, totals = [], {}, dict.fromkeys(COUNTS, 0)
    seeds = seeds if options.one is None else [options.one]
    for seed in seeds:
        world = truth.play(seed, options)
        for name in COUNTS:
            totals[name] += world.counts[name]
        for fault in world.faults:
            faults[fault] = faults.get(fault, 0) + 1
        if world.faults:
            failing.append((len(world.operations), seed))
            if options.stop:
                break
    if options.one is not None:
        print(*world.operations, sep="\n")
    print("histories %d, failed %d," % (len(seeds), len(failing)),
          ", ".join("%s %d" % item for item in totals.items()))
    for fault, count in sorted(faults.items()):
        print("%6d %s" % (count, fault))
    if failing:
        print("the shortest: --one %d" % min(failing)[1])
    too_many = [name for name, allowed in (
        ("unnoticed", options.unnoticed), ("invented", options.invented), ("older_won", .01))
        if allowed is not None and totals[name] > allowed * len(seeds)]
    if too_many:
        print("too many:", *too_many)
    sys.exit(1 if failing or too_many or wrong else 0)


if __name__ == "__main__":
    main()

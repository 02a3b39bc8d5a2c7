#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what random histories of the model ask of a hub, as JSON lines: each request with its
answer, and what the hub is afterwards. Tests of the hub's stores replay them.

    hub_calls.py --seed 1 --histories 10 [--marks 3] [--pages 2]
"""
import argparse
import json
import os
import sys
import types

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Model"))
import hub_model  # noqa: E402
import sync_model  # noqa: E402
import world  # noqa: E402


def mark_form(mark):
    return {"number": mark.seq, "time": mark.time * 1_000, "bits": mark.bits}


def text(value):
    return json.dumps(value, separators=(",", ":"))


def row_form(key, entry):
    return {"key": "/".join(key), "number": entry.seq, "isDeleted": entry.value is None,
            "row": text([entry.value, entry.time, entry.replica])}


def device_mark(mark):
    return mark and text(list(mark))


class TracedHub(hub_model.Hub):
    def state(self):
        rows = sorted(self.entries.items(), key=lambda row: row[1].seq)
        replicas = {str(replica): device_mark(mark) for replica, mark in self.devices.items()}
        vectors = ["%d %s\n" % (number, text(vectors.times)) for number, vectors in self.pushed]
        return {"number": self.seq, "rows": [row_form(*row) for row in rows],
                "vectors": "".join(vectors), "marks": list(map(mark_form, self.marks)),
                "forgotten": max(self.forgotten.values(), default=0),
                "replicas": replicas,
                "pushes": {str(replica): number for replica, number in self.numbers.items()}}

    def write(self, call, **members):
        print(text({"call": call, "now": self.clock * 1_000, **members, "state": self.state()}))

    def get(self, replica, cursor, position, last_answer, page, all_vectors=False):
        answer = super().get(replica, cursor, position, last_answer, page, all_vectors)
        self.write("read", replica=str(replica), cursor=mark_form(cursor), after=position,
                   lastNewest=mark_form(last_answer), page=min(page, 1_000),
                   allVectors=all_vectors,
                   answer={"rows": [row_form(*row) for row in answer.rows],
                           "isLast": answer.is_last, "newest": mark_form(answer.newest),
                           "vectors": [text(vectors.times) for number, vectors in self.pushed
                                       if all_vectors or number > cursor.seq],
                           "mark": device_mark(answer.remembered) or "",
                           "isKnown": answer.knows_device_cursor,
                           "clock": answer.clock * 1_000})
        return answer

    def push(self, base, last_answer, rows, replica, source, last=None):
        taken = super().push(base, last_answer, rows, replica, source, last)
        mark, is_next = taken or (None, False)
        self.write("push", replica=str(replica), base=mark_form(base),
                   lastNewest=mark_form(last_answer),
                   rows=[row_form(*row) for row in rows], bits=mark.bits if mark else 1,
                   mark=device_mark(last[0]) if last else "",
                   vectors=text(last[1].times) if last else "", isTaken=mark is not None,
                   isNext=is_next)
        return taken

    def drop(self, base, keys):
        super().drop(base, keys)
        self.write("forget", base=mark_form(base), keys=["/".join(key) for key in keys])


class TracedWorld(world.World):
    def do_restoreHub(self, operation, source):
        super().do_restoreHub(operation, source)
        self.hubs[operation["hub"]].write("restore")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in (("seed", 1), ("histories", 10), ("marks", 1_000), ("pages", 1_000_000)):
        parser.add_argument("--" + name, type=int, default=value)
    arguments = parser.parse_args()
    sync_model.PAGE, sync_model.MARKS = arguments.pages, arguments.marks
    world.Hub = TracedHub
    options = types.SimpleNamespace(
        hub="only", copies=True, noticed=.5, forget=True, future=True, large=False)
    for seed in range(arguments.seed, arguments.seed + arguments.histories):
        print(text({"call": "history", "seed": seed}))
        history = TracedWorld(seed, options)
        history.play(history.rng.randint(5, 80))


main()

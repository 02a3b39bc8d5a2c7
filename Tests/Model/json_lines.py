# SPDX-License-Identifier: Apache-2.0
"""Writes random histories as JSON lines, by which another implementation can be compared with the
model after every operation. README.md describes the format."""
import json

import hub_model
import merge_model
import sync_model
from world import World


def mark_form(mark):
    return mark and {"sequenceNumber": mark.seq, "time": mark.time, "bits": mark.bits}


def row_form(key, entry):
    return {"store": key.store, "key": key.name, "value": entry.value, "time": entry.time,
            "replicaID": entry.replica, "sequenceNumber": entry.seq}


def conflict_form(conflict):
    return {"lost": row_form(conflict.key, conflict.lost),
            "won": row_form(conflict.key, conflict.won), "isResolved": conflict.is_resolved}


def hub_cursor_form(cursor):
    return {"read": mark_form(cursor.read), "newest": mark_form(cursor.newest),
            "sent": mark_form(cursor.sent), "held": cursor.held}


def history_form(history):
    """What files and hubs have in common."""
    rows = sorted(history.entries.items(), key=lambda row: row[1].seq)
    return {"sequenceNumber": history.seq,
            "entries": [row_form(key, entry) for key, entry in rows],
            "vectors": history.seen.times, "marks": list(map(mark_form, history.marks)),
            "trimmed": history.trimmed, "forgotten": history.forgotten}


def file_form(file):
    cursors = [{"peer": peer, "store": store, "read": mark_form(mark)}
               for (peer, store), mark in sorted(file.cursors.items())]
    own_marks = {peer: mark_form(file.own_mark(peer)) for peer, _ in file.own_marks}
    return {"replicaID": file.id, "clock": file.clock, **history_form(file),
            "cursors": cursors, "ownMarks": own_marks,
            "hubs": {hub: hub_cursor_form(cursor) for hub, cursor in file.hubs.items()},
            "conflicts": list(map(conflict_form, file.conflicts))}


def hub_form(hub):
    return {"id": hub.id, **history_form(hub),
            "devices": {replica: mark_form(mark) for replica, mark in hub.devices.items()}}


def names_in(operation, keys):
    """The files or hubs that an operation names, with those between its transactions."""
    names = {operation[key] for key in keys if key in operation}
    names |= set(operation.get("files", ()) if "file" in keys else ())
    names |= set(operation.get("hubs", ()) if "hub" in keys else ())
    return names.union(*(names_in(inner["operation"], keys)
                         for inner in operation.get("between", ())))


def forget_plans(operation):
    """`crash` says where a process crashed; where one might have is of no use."""
    operation.pop("crashAt", None)
    for inner in operation.get("between", ()):
        forget_plans(inner["operation"])


def scale_times(tick):
    """Makes a second so many units of time: the clock of an implementation may have finer ones."""
    for module, names in ((sync_model, ["REPAIR"]), (merge_model, ["SKEW"]),
                          (hub_model, ["REPAIR", "SKEW"])):
        for name in names:
            setattr(module, name, getattr(module, name) * tick)


class WrittenWorld(World):
    def __init__(self, seed, options):
        super().__init__(seed, options)
        self.seed, self.count, self.tick = seed, 0, options.tick

    def perform(self, operation):
        for name in {"now", "hubClock", "before"} & set(operation):
            operation[name] *= self.tick
        super().perform(operation)
        if self.depth > 0:
            return
        self.count += 1
        files = names_in(operation, ("file", "as", "source", "target")) & set(self.files)
        hubs = names_in(operation, ("hub",)) & set(self.hubs)
        events = {}
        for name in sorted(files):
            events[name] = [{"store": key.store, "key": key.name, "value": value}
                            for key, value in self.files[name].events]
            self.files[name].events = []
        forget_plans(operation)
        print(json.dumps({
            "history": self.seed, "step": self.count, "operation": operation,
            "files": {name: file_form(self.files[name]) for name in sorted(files)},
            "events": events,
            "hubs": {name: hub_form(self.hubs[name]) for name in sorted(hubs)}}, sort_keys=True))


def write(seeds, options):
    scale_times(options.tick)
    for seed in seeds:
        world = WrittenWorld(seed, options)
        world.play(world.rng.randint(5, options.length))

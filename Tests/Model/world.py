# SPDX-License-Identifier: Apache-2.0
"""Random histories: devices with files that are written, merged, copied, restored and synced.

An operation is a dictionary, in the form that README.md describes. `World.play` chooses operations
at random, `World.perform` runs one, and adds what the model chose meanwhile: new replica IDs, mark
bits, where the process crashed, and what happened between its transactions.
"""
import itertools
import random

import hub_model
import merge_model
from hub_model import Hub, HubClockError
from sync_model import SKEW, File, Key

STORES = ["cloud", "cloud:work"]
DAY = 86_400


class Crash(Exception):
    pass


class Source:
    """New replica IDs and mark bits, recorded in the operation that needs them."""

    def __init__(self, rng, operation):
        self.rng, self.operation = rng, operation

    def draw(self, name):
        number = self.rng.getrandbits(62)
        self.operation.setdefault(name, []).append(number)
        return number

    def replica_id(self):
        return self.draw("replicaIDs")

    def mark_bits(self):
        return self.draw("markBits")


class World:
    def __init__(self, seed, options):
        self.rng, self.options = random.Random(seed), options
        self.now = 1_000_000
        self.files, self.skews, self.backups = {}, {}, {}
        self.hubs, self.hub_backups = {}, {}
        self.hub_skew = 0
        self.numbers = itertools.count(1)
        self.operations = []
        self.depth, self.is_quiet, self.has_forgotten = 0, False, False

    def clock(self, name):
        return self.now + self.skews[name]

    def hubs_of(self, name):
        """With two hubs, only the first device knows both."""
        names = list(self.hubs)
        index = list(self.files).index(name)
        return names if index == 0 else names[index % len(names):][:1] if names else []

    # Performing

    def perform(self, operation):
        if self.depth == 0:
            self.operations.append(operation)
        self.depth += 1
        try:
            getattr(self, "do_" + operation["do"])(operation, Source(self.rng, operation))
        except Crash:
            pass
        finally:
            self.depth -= 1

    def step(self, operation, names):
        """The `step` of one process: it may crash there, and others may write there."""
        count = itertools.count(1)

        def step(name):
            number = next(count)
            if number == operation.get("crashAt"):
                operation["crash"] = {"step": number, "name": name}
                raise Crash
            if self.is_quiet or self.depth > 2:
                return
            for inner in self.between(names, operation["do"] == "hub"):
                operation.setdefault("between", []).append(
                    {"step": number, "name": name, "operation": inner})
                self.perform(inner)
        return step

    def between(self, names, is_hub):
        rng, options = self.rng, self.options
        if rng.random() < .1:
            if options.copies:    # a power failure may take a file back to here
                for name in names:
                    yield {"do": "backup", "file": name, "as": "b%d" % next(self.numbers)}
            yield self.a_write(rng.choice(names))
        if is_hub:
            others = [name for name in self.files if name not in names]
            if others and rng.random() < .15:
                yield self.a_hub_sync(rng.choice(others))
            # The lease is not held over a request.
            if rng.random() < .02:
                yield self.a_hub_sync(names[0])
            if others and options.hub == "too" and rng.random() < .04:
                yield self.a_merge([names[0], rng.choice(others)])
            if rng.random() < .01 and options.copies:
                yield {"do": "newID", "file": names[0]}
            if options.forget and rng.random() < .03:
                yield self.a_compaction(names[0])
            if options.copies and rng.random() < .01:
                yield from self.a_hub_restore()

    def do_create(self, operation, source):
        self.files[operation["file"]] = File(source.replica_id())

    def do_write(self, operation, source):
        key = Key(operation["store"], operation["key"])
        self.files[operation["file"]].write(key, operation["value"], operation["now"])

    def do_resolve(self, operation, source):
        key = Key(operation["store"], operation["key"])
        self.files[operation["file"]].resolve(key, operation["value"], operation["now"])

    def do_merge(self, operation, source):
        names = operation["files"]
        merge_model.merge([self.files[name] for name in names], operation["stores"],
                         operation["now"], source, self.step(operation, names))

    def do_oneWay(self, operation, source):
        names = [operation["source"], operation["target"]]
        merge_model.merge_one_way(
            *[self.files[name] for name in names], operation["stores"], operation["now"], source,
            self.step(operation, names), operation["isWritable"])

    def do_hub(self, operation, source):
        name, hub = operation["file"], self.hubs[operation["hub"]]
        step = self.step(operation, [name])
        hub.clock = operation["hubClock"]
        try:
            operation["isDone"] = hub_model.sync_with_hub(
                self.files[name], hub, operation["now"], source, step)
        except HubClockError:
            operation["isRefused"] = True

    def do_copy(self, operation, source):
        self.files[operation["as"]] = self.files[operation["file"]].copy()

    def do_backup(self, operation, source):
        self.backups[operation["as"]] = self.files[operation["file"]].copy()

    def do_restore(self, operation, source):
        vars(self.files[operation["file"]]).update(vars(self.backups[operation["from"]].copy()))

    def do_newID(self, operation, source):
        self.files[operation["file"]].take_new_id(source.replica_id())

    def do_clock(self, operation, source):
        self.skews[operation["file"]] = operation["ahead"]

    def do_repair(self, operation, source):
        self.files[operation["file"]].repair_clock(operation["now"], source)

    def do_compact(self, operation, source):
        file = self.files[operation["file"]]
        keys = file.compact(operation["before"])
        for name in operation["hubs"]:
            hub = self.hubs[name]
            if hub.id in file.hubs:
                hub.drop(file.hubs[hub.id].read, keys)
        self.has_forgotten |= bool(keys)

    def do_remove(self, operation, source):
        del self.files[operation["file"]]

    def do_createHub(self, operation, source):
        self.hubs[operation["hub"]] = Hub(operation["id"], limit=operation["limit"])

    def do_backupHub(self, operation, source):
        self.hub_backups[operation["hub"]] = self.hubs[operation["hub"]].copy()

    def do_restoreHub(self, operation, source):
        hub, backup = self.hubs[operation["hub"]], self.hub_backups[operation["hub"]].copy()
        vars(hub).update({**vars(backup), "clock": hub.clock, "limit": hub.limit})

    # Choosing

    def play(self, length):
        for _ in range(self.rng.randint(2, 4)):
            self.perform(self.a_file())
        for name in {"only": ["h0"], "too": ["h0"], "two": ["h0", "h1"]}.get(self.options.hub, []):
            limit = self.rng.choice([5, 1_000]) if self.options.large else 1_000
            self.perform({"do": "createHub", "hub": name, "limit": limit,
                          "id": self.rng.getrandbits(62)})
        for _ in range(length):
            self.now += self.rng.choice([0, 1, 1, 5, 60, 3600])
            for operation in self.choose():
                self.perform(operation)

    def choose(self):
        rng, options, names = self.rng, self.options, list(self.files)
        name, other, roll = rng.choice(names), rng.choice(names), rng.random()
        if roll < .43:
            yield self.a_write(name)
        elif roll < .45:
            yield from self.a_resolution(name)
        elif options.hub and roll < (.65 if options.hub == "too" else .80):
            yield self.a_hub_sync(name)
        elif roll < (.69 if options.hub else .55):
            if name != other and options.hub in (None, "too"):
                yield self.a_one_way(name, other)
        elif roll < .80:
            yield from self.some_merge()
        elif roll < .94:
            if options.copies:
                yield from self.a_copy(name, roll)
        elif options.future and roll < .97:
            yield from self.a_clock_change(name)
        elif options.forget and roll < .98:
            yield self.a_compaction(name)
        elif options.future and self.hubs and roll < .985:
            self.hub_skew = rng.choice([0, 0, 1_000, -1_000, 20_000, 3 * DAY])

    def a_crash(self):
        return self.rng.randint(1, 9) if self.rng.random() < .2 else None

    def some_stores(self):
        return self.rng.choice([None, None, STORES[:1], STORES[1:], STORES])

    def a_file(self):
        name = "f%d" % next(self.numbers)
        self.skews[name] = self.rng.choice([0, 0, 0, 30, -30, 200, -200])
        return {"do": "create", "file": name}

    def a_write(self, name):
        store = self.rng.choice(STORES + ["defaults"]) if self.rng.random() < .4 else STORES[0]
        number = next(self.numbers)
        value = None if self.rng.random() < .25 else "v%d" % number
        if value and self.options.large and self.rng.random() < .3:
            value += "-large"
        return {"do": "write", "file": name, "store": store, "key": "k%d" % self.rng.randint(1, 4),
                "value": value, "now": self.clock(name)}

    def a_resolution(self, name):
        open_ones = [c for c in self.files[name].conflicts if not c.is_resolved]
        if open_ones:
            conflict = self.rng.choice(open_ones)
            value = self.rng.choice([conflict.lost.value, conflict.won.value])
            yield {"do": "resolve", "file": name, "store": conflict.key.store,
                   "key": conflict.key.name, "value": value, "now": self.clock(name)}

    def a_merge(self, names):
        return {"do": "merge", "files": names, "stores": self.some_stores(),
                "now": self.clock(names[0]), "crashAt": self.a_crash()}

    def some_merge(self):
        if len(self.files) > 1 and self.options.hub in (None, "too"):
            count = 3 if len(self.files) > 2 and self.rng.random() < .2 else 2
            yield self.a_merge(self.rng.sample(list(self.files), count))

    def a_one_way(self, name, other):
        return {"do": "oneWay", "source": name, "target": other, "stores": self.some_stores(),
                "now": self.clock(other), "isWritable": self.rng.random() < .5,
                "crashAt": self.a_crash()}

    def a_hub_sync(self, name, hub=None):
        return {"do": "hub", "file": name, "hub": hub or self.rng.choice(self.hubs_of(name)),
                "now": self.clock(name), "hubClock": self.now + self.hub_skew,
                "crashAt": self.a_crash()}

    def a_copy(self, name, roll):
        if roll < .83:
            yield from self.a_hub_restore() if self.hub_backups else []
            for hub in self.hubs:
                yield {"do": "backupHub", "hub": hub}
        elif roll < .87:
            yield {"do": "backup", "file": name, "as": "b%d" % next(self.numbers)}
        elif roll < .91:
            if self.backups:
                backup = self.rng.choice(list(self.backups))
                yield {"do": "restore", "file": name, "from": backup}
                yield from self.an_opening(name)
        elif len(self.files) < 6:
            copy = "f%d" % next(self.numbers)
            self.skews[copy] = self.skews[name]
            yield {"do": "copy", "file": name, "as": copy}
            yield from self.an_opening(copy)

    def an_opening(self, name):
        """The first opening since a file was copied or restored may notice it."""
        if self.rng.random() < self.options.noticed:
            yield {"do": "newID", "file": name}

    def a_hub_restore(self):
        if self.hub_backups:
            yield {"do": "restoreHub", "hub": self.rng.choice(list(self.hub_backups))}

    def a_clock_change(self, name):
        if self.skews[name] > SKEW:
            yield {"do": "clock", "file": name, "ahead": 0}
            yield self.a_repair(name)
        else:
            ahead = self.rng.choice([400, 4_000, 3_000_000])
            yield {"do": "clock", "file": name, "ahead": ahead}

    def a_repair(self, name):
        return {"do": "repair", "file": name, "now": self.now}

    def a_compaction(self, name):
        hubs = self.hubs_of(name) if self.hubs and self.rng.random() < .5 else []
        return {"do": "compact", "file": name, "before": self.clock(name) - 5_000, "hubs": hubs}

# SPDX-License-Identifier: Apache-2.0
"""The ground truth: histories in which each write has a number, its ghost.

The truth of a file is the set of the ghosts that it has read, or that lost to something that it has
read: what its version vectors say in a few numbers. `CheckedWorld` compares each decision of the
model with it, and checks the promises P1 to P9 of `check.py`.
"""
import itertools
from typing import NamedTuple

import hub_model
import sync_model
from sync_model import REPAIR, START, File, Key, is_synced
from world import World

COUNTS = ["noticed", "unnoticed", "invented", "superseded", "writer_knew", "older_won", "new_ids"]
WORLD = None


class Truth(NamedTuple):
    read: frozenset = frozenset()
    lost: frozenset = frozenset()    # also what lost to rows that wait, which were not read


def truth_of(vectors):
    return vectors.truth or Truth()


class CheckedWorld(World):
    def __init__(self, seed, options):
        super().__init__(seed, options)
        self.ghosts = itertools.count(1)
        self.keys, self.values, self.times, self.writers = {}, {}, {}, {}    # by ghost
        self.past = {}           # by ghost: what its file had read before
        self.replaced = {}       # by ghost: the writes of its key that its user had seen
        self.dropped = {}        # by replica ID and key: tombstones that the file has dropped
        self.logged = {}         # by ghost: the writes that are logged to have won over it
        self.rewritten = set()   # ghosts that a repair has replaced
        self.shown = {}          # by file: the values that its events have announced
        self.counts = dict.fromkeys(COUNTS, 0)
        self.reads, self.faults = 0, set()

    # Writes with their ghosts

    def add_ghost(self, file, key, value, replaced):
        """Returns the ghost of a write that comes next."""
        ghost = next(self.ghosts)
        self.keys[ghost], self.values[ghost] = key, value
        self.past[ghost] = truth_of(file.seen).read | ({replaced.ghost} if replaced else set())
        seen = {replaced.ghost} | self.replaced[replaced.ghost] if replaced else set()
        self.replaced[ghost] = seen | self.dropped.get((file.id, key), set())
        return ghost

    def note_ghost(self, file, key, ghost):
        self.times[ghost], self.writers[ghost] = file.entries[key].time, file.id
        truth = truth_of(file.seen)
        file.seen.truth = Truth(truth.read | {ghost}, truth.lost | {ghost})
        if any(self.times[known] >= self.times[ghost] for known in self.past[ghost]):
            if not self.options.future:
                self.faults.add("P2 a write is not later than what its file had read")

    def is_settled(self, loser, winner):
        """Vectors come with the last page. What was read before says more: the winner's writer may
        have seen the loser, or one that its user has replaced it by, or that is logged to have won
        over it."""
        known, losers = self.replaced[winner] | {winner}, {loser}
        if self.options.pages < 1_000:
            known = known.union(*(self.past[ghost] for ghost in known))
            while losers and not losers & known:
                losers = {next for next in self.replaced if losers & self.replaced[next]}.union(
                    *(self.logged.get(ghost, ()) for ghost in losers))
        return bool(losers & known)

    def do_write(self, operation, source):
        file = self.files[operation["file"]]
        key = Key(operation["store"], operation["key"])
        if not is_synced(key.store):
            return super().do_write(operation, source)
        ghost = self.add_ghost(file, key, operation["value"], file.entries.get(key))
        file.write(key, operation["value"], operation["now"], ghost)
        self.note_ghost(file, key, ghost)

    def do_resolve(self, operation, source):
        file = self.files[operation["file"]]
        key = Key(operation["store"], operation["key"])
        ghost, seq = self.add_ghost(file, key, operation["value"], file.entries.get(key)), file.seq
        file.resolve(key, operation["value"], operation["now"], ghost)
        if file.seq > seq:
            self.note_ghost(file, key, ghost)
        else:
            del self.past[ghost], self.keys[ghost], self.values[ghost]

    def do_repair(self, operation, source):
        file = self.files[operation["file"]]
        late = [(key, e) for key, e in file.entries.items()
                if e.time > operation["now"] + REPAIR and is_synced(key.store)]
        due = operation["now"] + REPAIR
        marked = max([mark.time for mark in file.marks if mark.time <= due], default=0)
        vectors = file.vectors(file.synced_stores(), marked).times
        file.repair_clock(operation["now"], source)
        for key, e in sorted(late, key=lambda row: row[1].order()):
            ghost = self.add_ghost(file, key, e.value, e)
            self.rewritten.add(e.ghost)
            file.entries[key] = file.entries[key]._replace(ghost=ghost)
            self.note_ghost(file, key, ghost)
            known = [self.times[g] for g in self.past[ghost] - self.rewritten
                     if self.times[g] <= vectors[key.store].get(self.writers[g], 0) <= due]
            if any(self.times[ghost] <= time for time in known):
                self.faults.add("P2 a repaired row is not later than what its file had read")

    def do_compact(self, operation, source):
        file = self.files[operation["file"]]
        before = dict(file.entries)
        super().do_compact(operation, source)
        for key in set(before) - set(file.entries):
            ghost = before[key].ghost
            dropped = self.dropped.setdefault((file.id, key), set())
            dropped |= {ghost} | self.replaced.get(ghost, set())

    # After each operation

    def perform(self, operation):
        super().perform(operation)
        if self.depth == 0:
            for name, file in self.files.items():
                self.check_events(name, file, operation)
            self.check_own_marks()

    def check_events(self, name, file, operation):
        values = {key: e.value for key, e in file.entries.items() if e.value is not None}
        is_replaced = operation["do"] in ("copy", "restore")
        shown = self.shown.setdefault(name, {})
        for key, value in file.events:
            if shown.get(key) == value and not is_replaced:
                self.faults.add("P7 an event without a change")
            shown[key] = value
        file.events = []
        if any(e.value is None and not is_synced(key.store) for key, e in file.entries.items()):
            self.faults.add("P8 a store that is not synced has a tombstone")
        if is_replaced:
            self.shown[name] = dict(values)
        elif {k: v for k, v in shown.items() if v is not None} != values:
            self.faults.add("P7 a change without an event")

    def check_own_marks(self):
        """A peer has each row of a store up to a noted own mark, or one that wins over it."""
        options = self.options
        if options.copies or options.future or options.forget:
            return    # A peer that was set back has read less.
        for file, other in itertools.permutations(self.files.values(), 2):
            for (peer, store), mark in file.own_marks.items():
                if peer == other.id and any(row.seq <= mark.seq and (
                        key not in other.entries or other.entries[key].order() < row.order())
                        for key, row in file.rows([store])):
                    self.faults.add("P9 a file believes that a peer has read what it has not")

    # The end

    def settle(self):
        self.is_quiet, self.hub_skew = True, 0
        rng, options = self.rng, self.options
        may_vanish = not options.future and options.hub != "two"
        if len(self.files) > 2 and may_vanish and rng.random() < .3:
            self.perform({"do": "remove", "file": rng.choice(list(self.files))})
        for name in self.files:
            self.perform({"do": "clock", "file": name, "ahead": 0})
            self.perform(self.a_repair(name))
        for hub in self.hubs.values():
            hub.limit = 1_000    # at last nothing waits
        self.now += 100_000
        before = None
        for _ in range(len(self.files) + 4):
            if before == self.state():
                break
            before = self.state()
            self.sync_all()

    def sync_all(self):
        for name in self.files:
            for hub in self.hubs_of(name):
                self.perform({**self.a_hub_sync(name, hub), "crashAt": None})
        if self.options.hub in (None, "too"):
            for pair in itertools.combinations(self.files, 2):
                self.perform({**self.a_merge(list(pair)), "stores": None, "crashAt": None})

    def check_end(self):
        self.check_equal()
        self.check_survivors()
        self.check_nothing_new()
        self.check_echo()
        if self.hubs:
            self.check_waiting()
        ids = [file.id for file in self.files.values()]
        if len(set(ids)) < len(ids) and self.options.hub in (None, "too"):
            self.faults.add("P5 two files with one ID")    # a hub finds two when both have pushed
        options = self.options
        is_exact = not options.future and (not options.copies or options.noticed == 1) and (
            options.replicas > 99 and not options.large and options.marks > 99)
        keeps_marks = options.marks > 99    # few may lose one that was read
        if keeps_marks and not options.copies and not options.future and self.counts["new_ids"]:
            self.faults.add("P5 a replica ID changed without a reason")
        if is_exact and self.counts["invented"] > (self.options.invented or 0):
            self.faults.add("P4 a conflict that is none")
        if self.counts["unnoticed"] and self.options.unnoticed is None:
            self.faults.add("P4 an unnoticed conflict")

    def check_equal(self):
        shown = [{key: e[:3] for key, e in file.entries.items()
                  if is_synced(key.store) and (e.value is not None or not self.has_forgotten)}
                 for file in self.files.values()]
        if any(other != shown[0] for other in shown):
            self.faults.add("P1 not converged")

    def check_survivors(self):
        if self.has_forgotten:
            return
        file = list(self.files.values())[0]
        truths = [truth_of(f.seen).read for f in self.files.values()]
        survivors = set().union(*truths) - self.rewritten
        # A write that its readers knew only as overwritten, by one that went with its device or its
        # backup, went with it.
        gone = {known for ghost, key in self.keys.items() if ghost not in survivors
                for known in self.past[ghost] if self.keys[known] == key}
        for ghost in survivors - gone:
            entry = file.entries.get(self.keys[ghost])
            if entry is None:
                self.faults.add("P1 a key is lost")
            elif entry.ghost in self.past[ghost] and entry.value != self.values[ghost]:
                if self.options.future:    # a limit of repairs, see README.md
                    self.counts["older_won"] += 1
                else:
                    self.faults.add("P2 a write has won over one that knew it")
            elif self.times[ghost] > entry.time and not self.options.future:
                self.faults.add("P1 not the last write")

    def state(self):
        return [(f.seq, list(f.marks), dict(f.forgotten), f.seen.copy().times,
                 *(dict(getattr(f, name, {})) for name in ("cursors", "own_marks", "hubs")))
                for f in [*self.files.values(), *self.hubs.values()]]

    def check_nothing_new(self):
        for name, file in self.files.items():
            file.write(Key("defaults", "k"), "end", self.clock(name))
        before, self.reads = self.state(), 0
        self.sync_all()
        if self.reads:
            self.faults.add("P3 a sync with nothing new reads rows")
        if self.state() != before:
            self.faults.add("P3 a sync with nothing new writes")
        if any(e.value != "end" and (key.name == "k") for file in self.files.values()
               for key, e in file.entries.items() if key.store == "defaults"):
            self.faults.add("P8 a store that is not synced was merged")

    def check_echo(self):
        """A sync right after one that has brought something reads nothing."""
        if self.options.hub not in (None, "too"):
            return
        names = list(self.files)[:2]
        stores = self.rng.choice([None, ["cloud"]])
        for writer in names:
            self.perform({**self.a_write(writer), "store": "cloud"})
            for expected in (1, 0):
                self.reads = 0
                self.perform({**self.a_merge(names), "stores": stores, "crashAt": None})
                if self.reads != expected:
                    self.faults.add("P3 a sync reads what the other has just taken from it")

    def check_waiting(self):
        """A row of a fast clock waits without being pushed, or written, at each sync."""
        for name in self.files:
            self.skews[name] = 4_000
            for _ in range(2):
                self.perform(self.a_write(name))
        self.skews[list(self.files)[-1]] = 0
        self.perform(self.a_write(list(self.files)[-1]))
        for _ in range(6):
            before = self.state()
            for name in self.files:
                for hub in self.hubs_of(name):
                    self.perform({**self.a_hub_sync(name, hub), "crashAt": None})
        if [x[:2] for x in self.state()] != [x[:2] for x in before]:
            self.faults.add("P3 a sync while a row waits writes")


# The model's functions, watched.

TRUTH = {}
decide, rotate, take_new_id = sync_model.decide, File.rotate, File.take_new_id
apply, finish = sync_model.Pull.apply, sync_model.Pull.finish
vectors_without, united = hub_model.HubSync.vectors_without, hub_model.united


def watched_apply(self, rows, giver_vectors, sent):
    TRUTH.update(receiver=truth_of(self.receiver.seen), giver=truth_of(giver_vectors))
    before = dict(self.receiver.entries)
    apply(self, rows, giver_vectors, sent)
    if any(row.time > self.horizon and self.receiver.entries.get(key) != before.get(key)
           for key, row in rows):
        WORLD.faults.add("P6 a row from the future was applied")


def watched_decide(local, incoming, receiver_covers, giver_covers):
    WORLD.reads += 1
    applies, lost = decide(local, incoming, receiver_covers, giver_covers)
    is_concurrent = False
    if local is not None and local.ghost != incoming.ghost and local.value != incoming.value:
        wins = incoming.order() > local.order()
        loser, truth = (local, TRUTH["giver"]) if wins else (incoming, TRUTH["receiver"])
        winner = incoming if wins else local
        is_concurrent = loser.ghost not in truth.read
        if is_concurrent and not lost and loser.ghost in truth.lost:
            WORLD.counts["superseded"] += 1
            return applies, lost
        if is_concurrent and WORLD.is_settled(loser.ghost, winner.ghost):
            knew = loser.ghost in WORLD.replaced[winner.ghost]
            WORLD.counts["writer_knew"] += bool(lost and knew)
            is_concurrent = bool(lost)    # either is right
        if lost:
            WORLD.logged.setdefault(loser.ghost, set()).add(winner.ghost)
    if is_concurrent and not lost:
        WORLD.counts["unnoticed"] += 1
        WORLD.operations.append({"UNNOTICED": (local, incoming)})
    elif lost and not is_concurrent:
        WORLD.counts["invented"] += 1
        WORLD.operations.append({"INVENTED": (local, incoming)})
    elif lost:
        WORLD.counts["noticed"] += 1
    return applies, lost


def watched_finish(self, giver_vectors):
    """A write that lost to a row that waits has not been read, nor lost to something that was."""
    finish(self, giver_vectors)
    waiting = {key for key, _ in self.waiting}
    truth, giver = truth_of(self.receiver.seen), truth_of(giver_vectors)
    lost = {ghost for ghost in giver.lost if WORLD.keys[ghost].store in self.stores
            and WORLD.times[ghost] <= self.horizon}
    read = {ghost for ghost in giver.read & lost if WORLD.keys[ghost] not in waiting}
    self.receiver.seen.truth = Truth(truth.read | read, truth.lost | lost)


def watched_vectors_without(self, held, horizon, mark):
    vectors = vectors_without(self, held, horizon, mark)
    truth, keys = truth_of(self.device.seen), {key for key, _ in held}
    read = {ghost for ghost in truth.read if WORLD.keys[ghost] not in keys}
    lost = truth.lost - {row.ghost for _, row in held}
    vectors.truth = Truth(truth_of(self.answer.vectors).read | read, lost)
    return vectors


def watched_united(all_vectors):
    every = list(all_vectors)
    vectors, truths = united(every), [truth_of(vectors) for vectors in every]
    vectors.truth = Truth(frozenset().union(*(truth.read for truth in truths)),
                          frozenset().union(*(truth.lost for truth in truths)))
    return vectors


def watched_new_id(function):
    def run(self, *arguments):
        WORLD.counts["new_ids"] += 1
        return function(self, *arguments)
    return run


def watch():
    sync_model.decide = watched_decide
    sync_model.Pull.apply, sync_model.Pull.finish = watched_apply, watched_finish
    hub_model.HubSync.vectors_without = watched_vectors_without
    hub_model.united = watched_united
    File.rotate, File.take_new_id = watched_new_id(rotate), watched_new_id(take_new_id)


def play(seed, options):
    global WORLD
    WORLD = CheckedWorld(seed, options)
    WORLD.play(WORLD.rng.randint(5, options.length))
    WORLD.settle()
    WORLD.check_end()
    return WORLD

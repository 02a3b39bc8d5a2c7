# SPDX-License-Identifier: Apache-2.0
"""Small histories that random ones seldom take, one for each rule that was hard to find.

Each is a function that returns True if the rule holds.
"""
import contextlib
import itertools

import json_lines
import merge_model
import sync_model
from hub_model import Hub, sync_with_hub
from sync_model import REPAIR, File, Key

NOW = 1_000_000
RULES = []


def rule(sentence):
    def add(function):
        RULES.append((sentence, function))
        return function
    return add


class Lab:
    """Some files and hubs, and short names for what happens to them."""

    def __init__(self, world):
        self.world, self.now = world, NOW
        self.bits, self.ids = itertools.count(1_000_000), itertools.count(100)

    def replica_id(self):
        return next(self.ids)

    def mark_bits(self):
        return next(self.bits)

    def files(self, count):
        return [File(self.replica_id()) for _ in range(count)]

    def write(self, file, key, value, ahead=0, store="cloud"):
        key = Key(store, key)
        ghost = self.world.add_ghost(file, key, value, file.entries.get(key))
        file.write(key, value, self.now + ahead, ghost)
        self.world.note_ghost(file, key, ghost)
        self.now += 1

    def merge(self, *files, stores=None, crash=None, ahead=0):
        self.now += 1
        try:
            merge_model.merge(list(files), stores, self.now + ahead, self, crash_at(crash))
        except Crashed:
            pass

    def one_way(self, source, target, is_writable=True, stores=None):
        self.now += 1
        step = crash_at(None)
        merge_model.merge_one_way(source, target, stores, self.now, self, step, is_writable)

    def hub(self, device, hub, step=lambda name: None, ahead=0):
        self.now += 1
        hub.clock = self.now
        return sync_with_hub(device, hub, self.now + ahead, self, step)

    def hub_in_turn(self, hub, *devices):
        for device in devices:
            self.hub(device, hub)

    def reads(self, function, *arguments, **named):
        self.world.reads = 0
        function(*arguments, **named)
        return self.world.reads


class Crashed(Exception):
    pass


def crash_at(wanted):
    def step(name):
        if name == wanted:
            raise Crashed
    return step


@contextlib.contextmanager
def pages_of(rows):
    """The body runs with pages of so many rows."""
    before, sync_model.PAGE = sync_model.PAGE, rows
    try:
        yield
    finally:
        sync_model.PAGE = before


def once(wanted, action):
    """A step that acts at the first boundary of this name."""
    is_done = []

    def step(name):
        if name == wanted and not is_done:
            is_done.append(True)
            action()
    return step


def value(file, key, store="cloud"):
    entry = file.entries.get(Key(store, key))
    return entry.value if entry else None


def are_equal(*files):
    shown = [{key: e.order() for key, e in f.entries.items()} for f in files]
    return all(other == shown[0] for other in shown)


def losers(*files):
    return sorted(str(c.lost.value) for file in files for c in file.conflicts)


# Forgetting

@rule("a deletion that one of two has forgotten, and a third brings back, settles")
def forgotten_and_brought_back(lab):
    a, b, c = lab.files(3)
    lab.write(c, "k", "old", -9_000)
    lab.merge(a, c), lab.merge(a, b)
    lab.write(a, "k", None, -8_000)
    for _ in range(3):
        lab.merge(a, b)
    b.compact(NOW - 1_000)
    lab.merge(b, c)
    for _ in range(3):
        lab.merge(a, b)
    return are_equal(a, b)


@rule("a write is later than a deletion that its file's vector covers")
def later_than_forgotten(lab):
    a, b = lab.files(2)
    lab.write(a, "k", None, 100, store="cloud:work")
    a.compact(NOW + 200)
    lab.merge(b, a)
    lab.write(b, "k", "new", -100, store="cloud:work")
    return b.entries[Key("cloud:work", "k")].time > NOW + 100


@rule("a one-way merge does not hide deletions that its source has forgotten")
def forgotten_before_one_way(lab):
    a, b = lab.files(2)
    lab.write(a, "k", "old")
    lab.merge(a, b)
    lab.write(a, "k", None)
    lab.write(a, "other", "value")
    a.compact(NOW + 100)
    lab.one_way(a, b)
    lab.merge(a, b), lab.merge(a, b)
    return are_equal(a, b)


@rule("a mark shows that a dropped tombstone was read, so that nothing is read in full for ever")
def newest_was_forgotten(lab):
    a, b = lab.files(2)
    lab.write(b, "other", "value")
    lab.merge(a, b)
    lab.write(a, "k", None)
    a.compact(NOW + 100)
    lab.merge(a, b), lab.merge(a, b)
    return lab.reads(lab.merge, a, b) == 0


# Copies and restores

@rule("a copy that nobody noticed gets a new ID when it syncs with a peer that knows its twin")
def copy_syncs_with_a_peer(lab):
    a, peer = lab.files(2)
    lab.merge(a, peer)
    lab.write(a, "k", "before")
    lab.merge(a, peer)
    twin = a.copy()
    lab.write(a, "k", "of a")
    lab.write(twin, "k", "of its twin")
    lab.merge(a, peer), lab.merge(twin, peer), lab.merge(a, peer)
    return a.id != twin.id and are_equal(a, peer, twin) and losers(a, peer, twin) == ["of a"]


@rule("two files with one ID separate, and log what each has overwritten of the other")
def twins_sync(lab):
    a, peer = lab.files(2)
    lab.write(a, "k", "before")
    lab.merge(a, peer)
    twin = a.copy()
    lab.write(a, "k", "of a")
    lab.write(twin, "k", "of its twin")
    lab.merge(a, twin)
    return a.id != twin.id and are_equal(a, twin) and losers(a, twin) == ["of a"]


@rule("what a copy wrote is not covered by vectors that cover its twin")
def twin_of_a_third(lab):
    a, b, c = lab.files(3)
    lab.write(a, "j", "before")
    lab.merge(a, b), lab.merge(a, c)
    twin = a.copy()
    lab.write(twin, "k", "of the twin")
    for n in range(3):
        lab.write(a, "j", str(n))
    lab.merge(a, b)
    lab.write(b, "k", "of b")
    lab.merge(twin, b)
    return losers(twin, b) == ["of the twin"] and value(twin, "k") == "of b"


@rule("a store that was synced alone is compared with its own mark when a file gets a new ID")
def copy_with_two_stores(lab):
    a, peer = lab.files(2)
    lab.write(a, "k", "1")
    lab.write(a, "k", "1", store="cloud:work")
    lab.merge(a, peer)
    lab.write(a, "k", "2")
    lab.merge(a, peer, stores=["cloud"])
    twin = a.copy()
    lab.write(a, "k", "3")
    lab.merge(a, peer, stores=["cloud"])
    lab.write(twin, "k", "of the twin", store="cloud:work")
    lab.merge(twin, peer)
    lab.write(a, "k", "of a", store="cloud:work")
    lab.merge(a, peer)
    lab.merge(twin, peer)
    return are_equal(a, twin, peer) and losers(a, twin, peer) == ["of the twin"]


@rule("a store that is not synced keeps its rows, and their numbers, when a file gets a new ID")
def rotation_and_other_stores(lab):
    a, peer = lab.files(2)
    a.write(Key("defaults", "k"), "here", NOW)
    lab.write(a, "k", "1")
    lab.merge(a, peer)
    backup = a.copy()
    lab.write(a, "k", "2")
    lab.merge(a, peer)
    before = backup.entries[Key("defaults", "k")]
    lab.merge(backup, peer)
    return backup.id != a.id and backup.entries[Key("defaults", "k")] == before


@rule("a hub that has rows under the old ID gets them under the new one")
def relabelled_on_a_hub(lab):
    hub, (a, b, peer) = Hub(9), lab.files(3)
    lab.write(a, "j", "1")
    lab.merge(a, peer)
    twin = a.copy()
    lab.write(twin, "j", "of the twin")
    lab.write(a, "k", "of a")
    lab.hub(a, hub), lab.hub(b, hub)
    lab.merge(twin, peer), lab.merge(a, peer)
    lab.hub_in_turn(hub, a, b, a)
    return are_equal(a, b)


@rule("a copy is found though its mark is older than those that it keeps")
def old_twin(lab):
    a, peer, other = lab.files(3)
    lab.write(a, "j", "0")
    lab.merge(a, other)
    twin = a.copy()
    lab.write(a, "k", "of a")
    lab.write(peer, "k", "of the peer")
    lab.write(twin, "j", "1")
    lab.merge(twin, peer)
    with_few_marks(lab, a, other)
    lab.merge(a, peer)
    return a.id != twin.id and "of a" in losers(a, peer)


@rule("a file keeps the marks that a peer has noted, of each store")
def keeps_noted_marks(lab):
    a, peer, other = lab.files(3)
    lab.write(a, "k", "1", store="cloud:work")
    lab.merge(a, peer)
    lab.write(a, "k", "1")
    lab.merge(a, peer, stores=["cloud"])
    with_few_marks(lab, a, other)
    before = a.id
    return lab.reads(lab.merge, a, peer) == 1 and a.id == before


@rule("a file keeps its ID when it syncs with a copy of a peer, a thousand marks later")
def old_cursor_of_a_copy(lab):
    a, peer = lab.files(2)
    lab.write(a, "k", "1")
    lab.merge(a, peer)
    copy, before = peer.copy(), a.id
    copy.take_new_id(lab.replica_id())
    with_few_marks(lab, a, peer)
    lab.merge(a, copy)
    return a.id == before and are_equal(a, copy)


@rule("a copy is found though its old mark is noted by a copy of a peer")
def old_twin_and_a_copy_of_the_peer(lab):
    a, peer, other = lab.files(3)
    lab.write(a, "j", "0")
    lab.merge(a, peer), lab.merge(a, other)
    twin = a.copy()
    lab.write(a, "k", "of a")
    lab.write(peer, "k", "of the peer")
    lab.write(twin, "j", "1")
    lab.merge(twin, peer)
    copy = peer.copy()
    copy.take_new_id(lab.replica_id())
    with_few_marks(lab, a, other)
    lab.merge(a, copy)
    return a.id != twin.id and "of a" in losers(a, copy)


def with_few_marks(lab, file, other):
    """A file makes more marks than it keeps."""
    before, sync_model.MARKS = sync_model.MARKS, 3
    for n in range(6):
        lab.write(file, "slider", str(n))
        lab.merge(file, other)
    sync_model.MARKS = before


# One way

@rule("a backup of the target is not read, and changes no ID")
def backup_into_its_file(lab):
    a, peer = lab.files(2)
    lab.write(a, "k", "1")
    lab.merge(a, peer)
    backup, before = a.copy(), a.id
    lab.write(a, "k", "2")
    reads = lab.reads(lab.one_way, backup, a, is_writable=False)
    return reads == 0 and a.id == before


@rule("a source that can be written is read once")
def source_is_marked(lab):
    a, b = lab.files(2)
    lab.write(a, "k", "1")
    lab.one_way(a, b)
    return lab.reads(lab.one_way, a, b) == 0


@rule("a one-way merge from a twin changes the target's ID")
def one_way_from_a_twin(lab):
    a, peer = lab.files(2)
    lab.write(a, "k", "before")
    lab.merge(a, peer)
    twin = a.copy()
    lab.write(a, "k", "of a")
    lab.write(twin, "k", "of its twin")
    lab.one_way(twin, a, is_writable=False)
    return a.id != twin.id and losers(a) == ["of a"]


@rule("a source that was set back, and can be written, gets a new ID")
def source_was_set_back(lab, is_writable=True):
    a, b = lab.files(2)
    lab.write(a, "j", "1")
    lab.one_way(a, b)
    backup = a.copy()
    lab.write(a, "j", "lost", 200)
    lab.one_way(a, b)
    lab.write(backup, "k", "of the backup", 100)
    lab.write(b, "k", "of b", 150)
    lab.one_way(backup, b, is_writable)
    return "of the backup" in losers(b)


@rule("a target that was set back gets a new ID, and its writes are not overwritten unlogged")
def target_was_set_back(lab):
    a, b = lab.files(2)
    lab.write(b, "j", "1")
    lab.merge(a, b)
    backup = b.copy()
    lab.write(b, "j", "lost")
    lab.write(b, "l", "lost")
    lab.merge(a, b)
    lab.write(backup, "k", "of the backup")
    lab.write(a, "k", "of a")
    lab.one_way(a, backup)
    return losers(backup) == ["of the backup"] and backup.id != b.id


@rule("a source that was set back, and cannot be written, does not lose a conflict")
def read_only_source_was_set_back(lab):
    return source_was_set_back(lab, is_writable=False)


@rule("a source keeps a mark that a one-way merge has noted")
def source_keeps_its_mark(lab):
    a, b, other = lab.files(3)
    lab.write(a, "k", "1")
    lab.one_way(a, b)
    with_few_marks(lab, a, other)
    before = a.id
    return lab.reads(lab.one_way, a, b) == 1 and a.id == before


@rule("a source that was set back, and cannot be written, loses no conflict at the next merge")
def read_only_source_goes_on(lab):
    a, b = lab.files(2)
    lab.write(a, "j", "1")
    lab.one_way(a, b)
    backup = a.copy()
    lab.write(a, "j", "2", 200)
    lab.one_way(a, b)
    lab.one_way(backup, b, is_writable=False)
    lab.write(backup, "k", "of the backup", 100)
    lab.write(b, "k", "of b", 150)
    lab.one_way(backup, b, is_writable=False)
    return losers(b) == ["of the backup"]


@rule("such a source does not make its twin's writes known")
def twin_of_a_read_only_source(lab):
    a, b = lab.files(2)
    lab.write(a, "j", "1")
    lab.one_way(a, b)
    backup = a.copy()
    lab.write(a, "j", "2")
    lab.one_way(a, b)
    lab.write(backup, "l", "of the backup", 200)
    lab.one_way(backup, b, is_writable=False)
    lab.write(a, "k", "of a", 100)
    lab.write(b, "k", "of b", 250)
    lab.merge(a, b)
    return losers(a, b) == ["of a"]


@rule("a source that cannot be written is not doubted because it has made a thousand marks")
def read_only_source_has_made_marks(lab):
    a, b, other = lab.files(3)
    lab.write(a, "k", "1")
    lab.one_way(a, b, is_writable=False)
    lab.write(a, "k", "2")
    lab.merge(a, other)
    lab.one_way(a, b, is_writable=False)
    lab.write(b, "k", "of b")
    with_few_marks(lab, a, other)
    lab.one_way(a, b, is_writable=False)
    return losers(b) == []


# Merges of several files

@rule("each file is compared with each other one")
def twin_of_the_third_file(lab):
    a, b, c = lab.files(3)
    lab.write(c, "j", "0")
    lab.merge(c, b)
    twin = c.copy()
    lab.write(c, "k", "of c")
    lab.write(b, "k", "of b")
    lab.write(twin, "j", "1")
    lab.merge(twin, b)
    lab.merge(a, b, c)
    return losers(a, b, c) == ["of c"] and c.id != twin.id


@rule("a second merge of three files reads nothing, and writes nothing")
def three_files(lab):
    files = lab.files(3)
    for file in files:
        lab.write(file, "k%d" % file.id, "value")
    lab.merge(*files)
    before = [json_lines.file_form(file) for file in files]
    reads = lab.reads(lab.merge, *files)
    return reads == 0 and before == [json_lines.file_form(file) for file in files]


# Clocks

@rule("a mark that was made while the clock was ahead does not cover what came after the repair")
def own_marks_after_a_repair(lab):
    a, peer, other = lab.files(3)
    lab.write(a, "j", "late", 2 * REPAIR)
    lab.merge(a, peer, ahead=2 * REPAIR)
    a.repair_clock(lab.now, lab)
    twin = a.copy()
    lab.write(a, "k", "of a")
    lab.merge(a, other)
    peer.note_read(a.id, ["cloud"], a.newest_mark())
    lab.write(twin, "k", "of the twin")
    lab.merge(twin, peer)
    return twin.seen.times["cloud"].get(a.id, 0) < a.entries[Key("cloud", "k")].time


@rule("a repair does not make a file forget its marks")
def marks_after_a_repair(lab):
    a, peer = lab.files(2)
    lab.write(a, "j", "present")
    lab.write(a, "k", "late", 2 * REPAIR)
    lab.merge(a, peer, ahead=2 * REPAIR)
    backup = a.copy()
    a.repair_clock(lab.now, lab)
    return lab.reads(lab.one_way, backup, a, is_writable=False) == 0


@rule("a clock that is ahead is repaired though no row is late")
def late_clock_without_rows(lab):
    a, = lab.files(1)
    a.write(Key("defaults", "k"), "v", NOW + 2 * REPAIR)
    a.write(Key("defaults", "k"), None, NOW + 2 * REPAIR)
    a.repair_clock(NOW, lab)
    lab.write(a, "k", "v")
    return a.entries[Key("cloud", "k")].time < NOW + REPAIR


@rule("a repair leaves nothing of the future in vectors")
def vectors_after_a_repair(lab):
    a, peer, other = lab.files(3)
    lab.write(peer, "k", "late", 2 * REPAIR)
    lab.merge(a, peer, ahead=2 * REPAIR)
    a.repair_clock(lab.now, lab)
    lab.write(a, "j", "value")
    lab.merge(a, other)
    return other.clock < lab.now + 9


@rule("a peer whose clock is ahead does not make each merge write")
def peer_is_ahead(lab):
    a, b = lab.files(2)
    lab.write(a, "j", "value")
    lab.write(b, "k", "late", 2 * sync_model.SKEW)
    lab.write(b, "l", "value", 2 * sync_model.SKEW)
    lab.merge(a, b), lab.merge(a, b)
    before = [json_lines.file_form(file) for file in (a, b)]
    lab.merge(a, b)
    return before == [json_lines.file_form(file) for file in (a, b)]


# Conflicts

@rule("of too many replica IDs in a vector those with the oldest times go")
def too_many_replicas(lab):
    a, *others = lab.files(4)
    before, sync_model.REPLICAS = sync_model.REPLICAS, 2
    for n, other in enumerate(others):
        lab.write(other, "k%d" % n, "value")
        lab.merge(a, other)
    sync_model.REPLICAS = before
    return set(a.seen.times["cloud"]) == {other.id for other in others[1:]}


@rule("a conflict is logged once, though the clock of the file that found it is ahead")
def found_by_a_fast_clock(lab):
    a, b, c = lab.files(3)
    lab.write(b, "k", "of b")
    lab.merge(b, c)
    lab.write(a, "k", "of a")
    lab.write(b, "l", "late", 2 * sync_model.SKEW)
    lab.merge(b, a), lab.merge(a, c)
    return losers(a, b, c) == ["of b"]


@rule("a conflict that is resolved is not logged again when a page is read again")
def resolved_and_read_again(lab):
    a, b = lab.files(2)
    lab.write(a, "k", "of a")
    lab.write(b, "k", "of b")
    lab.merge(a, b)
    found = a if a.conflicts else b
    found.resolve(Key("cloud", "k"), "both", lab.now)
    conflict = found.conflicts[0]
    found.log(conflict.key, conflict.lost, conflict.won)
    lab.merge(a, b)
    return len(found.conflicts) == 1 and value(a, "k") == value(b, "k") == "both"


def run(world):
    """Yields the rules that do not hold."""
    for sentence, function in RULES:
        if not function(Lab(world)):
            yield "RULE " + sentence

# SPDX-License-Identifier: Apache-2.0
"""The specification of sync between files: last writer wins per key, and no conflict is unnoticed.

`File` is the content of one SQLite file, and `Pull` reads rows into it. `merge_model.py` merges
files, and `hub_model.py` syncs a file with a hub. README.md explains the terms and the rules.

Each `step(name)` ends one transaction or one request. A process may crash there, and other
processes may write there. Times are integers. `ghost` and `truth` are for the checker alone:
nothing here decides by them.
"""
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Optional

SKEW = 300            # seconds that a timestamp may be ahead of the reader's clock
REPAIR = 86_400       # a file whose clock is further ahead than this is repaired
MARKS = 1_000         # marks that a file keeps, beside those that others may have noted
PAGE = 1_000_000      # rows that one transaction or one request takes
REPLICAS = 4_096      # replica IDs that a version vector keeps per store

Key = namedtuple("Key", "store name")


def is_synced(store):
    """Other stores never leave their file: they have no tombstones, vectors or cursors."""
    return store.split(":")[0] == "cloud"


class Entry(NamedTuple):
    """The last write of a key. `value` None is a tombstone, `seq` this file's sequence number."""
    value: Optional[str]
    time: int
    replica: int
    seq: int = 0
    ghost: int = 0

    def order(self):
        """The larger of two writes of a key wins. The order is total, and the same everywhere."""
        return (self.time, self.replica, self.value is not None, self.value or "")

    def is_same_row(self, other):
        return other is not None and self.order() == other.order()


class Mark(NamedTuple):
    """A point in a file's history: its newest number and clock, and bits that identify it."""
    seq: int
    time: int
    bits: int


START = Mark(0, 0, 0)


@dataclass
class Conflict:
    key: Key
    lost: Entry
    won: Entry
    is_resolved: bool = False


class Vectors:
    """One version vector per store: the time up to which the writes of each replica ID were read,
    or lost to something that was read."""

    def __init__(self, times=(), truth=None):
        self.times = {store: dict(vector) for store, vector in dict(times).items()}
        self.truth = truth

    def copy(self):
        return Vectors(self.times, self.truth)

    def up_to(self, horizon):
        return Vectors({store: {replica: time for replica, time in vector.items()
                                if time <= horizon}
                        for store, vector in self.times.items()}, self.truth)

    def all_times(self):
        return [time for vector in self.times.values() for time in vector.values()]

    def cover(self, key, entry):
        return entry.time <= self.times.get(key.store, {}).get(entry.replica, -1)

    def raise_to(self, store, replica, time):
        if time > self.times.get(store, {}).get(replica, 0):
            self.times.setdefault(store, {})[replica] = time

    def lower(self, replica, time):
        for vector in self.times.values():
            if replica in vector:
                vector[replica] = min(vector[replica], time)

    def unite(self, other, stores, horizon):
        """Times beyond the horizon are cut. Of too many IDs the longest silent go: that may log a
        conflict that is none, but loses nothing, because cursors decide what is read."""
        for store in stores:
            for replica, time in other.times.get(store, {}).items():
                self.raise_to(store, replica, min(time, horizon))
            vector = self.times.get(store, {})
            for replica in sorted(vector, key=lambda r: (-vector[r], r))[REPLICAS:]:
                del vector[replica]


@dataclass
class History:
    """Rows with sequence numbers and marks: what a file and a hub have in common."""
    id: int
    seq: int = 0
    entries: dict = field(default_factory=dict)     # Key -> Entry
    seen: Vectors = field(default_factory=Vectors)
    marks: list = field(default_factory=list)       # newest last
    trimmed: int = 0                                # the highest `seq` of a mark that was dropped
    forgotten: dict = field(default_factory=dict)   # store -> highest `seq` of a dropped tombstone

    def knows(self, mark):
        """True: in this history. None: too old to tell. False: of another file's history."""
        if mark.seq == 0 or mark.bits in {m.bits for m in self.marks}:
            return True
        return None if mark.seq <= self.trimmed else False

    def add_mark(self, mark, noted):
        """Keeps the last marks, and all that others may have noted."""
        old = [m for m in self.marks[:-MARKS + 1] if m not in noted]
        self.trimmed = max([self.trimmed] + [m.seq for m in old])
        self.marks = [m for m in self.marks if m not in old] + [mark]

    def newest_mark(self):
        return self.marks[-1] if self.marks else START

    def rows(self, stores):
        """The rows of these stores in the order of their sequence numbers."""
        rows = [(key, e) for key, e in self.entries.items() if key.store in stores]
        return sorted(rows, key=lambda row: row[1].seq)

    def forget(self, keys):
        for key in keys:
            seq = self.entries.pop(key).seq
            self.forgotten[key.store] = max(self.forgotten.get(key.store, 0), seq)


@dataclass
class File(History):
    clock: int = 0
    former: set = field(default_factory=set)        # replica IDs that it had before
    cursors: dict = field(default_factory=dict)     # (peer, store) -> its mark that was read last
    own_marks: dict = field(default_factory=dict)   # (peer, store) -> own mark that it has read
    hubs: dict = field(default_factory=dict)        # ID of a hub -> HubCursor
    conflicts: list = field(default_factory=list)
    events: list = field(default_factory=list)      # (Key, value): what observers are sent
    unreadable: set = field(default_factory=set)    # values that this version cannot read from a hub

    def copy(self):
        return replace(
            self, entries=dict(self.entries), seen=self.seen.copy(), marks=list(self.marks),
            former=set(self.former), forgotten=dict(self.forgotten), cursors=dict(self.cursors),
            own_marks=dict(self.own_marks), hubs=dict(self.hubs),
            conflicts=[replace(c) for c in self.conflicts], events=[])

    # Local writes

    def write(self, key, value, now, ghost=0):
        """In a store that is not synced, writing what is there changes nothing."""
        before = self.entries.get(key)
        if is_synced(key.store) or value != (before.value if before else None):
            self.write_anew(key, value, now, ghost)

    def write_anew(self, key, value, now, ghost=0):
        """A new write is later than all that the file has read, and never before the wall clock."""
        self.clock = max(self.clock + 1, now)
        self.put(key, Entry(value, self.clock, self.id, 0, ghost))
        if value is None and not is_synced(key.store):
            del self.entries[key]

    def put(self, key, entry):
        """A row that only gets another number, ID or timestamp is no event."""
        before = self.entries.get(key)
        if (before.value if before else None) != entry.value:
            self.events.append((key, entry.value))
        self.seq += 1
        self.entries[key] = entry._replace(seq=self.seq)

    def log(self, key, lost, won):
        """Logs a lost write once, also if its page is read again, or its conflict is resolved."""
        if all((c.key, c.lost.time, c.lost.replica) != (key, lost.time, lost.replica)
               for c in self.conflicts):
            self.conflicts.append(Conflict(key, lost, won))

    def resolve(self, key, value, now, ghost=0):
        """Conflicts are resolved in the file that found them: by a write that knows both sides."""
        for conflict in self.conflicts:
            conflict.is_resolved |= conflict.key == key
        if key not in self.entries or self.entries[key].value != value:
            self.write(key, value, now, ghost)

    # What others read

    def synced_stores(self):
        stores = {key.store for key in self.entries}
        stores |= {store for store, vector in self.seen.times.items() if vector}
        return sorted(filter(is_synced, stores | set(self.forgotten)))

    def vectors(self, stores, own_time):
        """The vectors of these stores with this file's own writes, up to a time."""
        vectors = Vectors({s: self.seen.times.get(s, {}) for s in stores}, self.seen.truth)
        for store in stores:
            vectors.raise_to(store, self.id, own_time)
        return vectors

    def newest_number(self):
        """The highest number in a synced store: writes to other stores change nothing for peers.
        Dropped tombstones count, so that a mark can show that they were read."""
        rows = [e.seq for key, e in self.entries.items() if is_synced(key.store)]
        return max(rows + list(self.forgotten.values()), default=0)

    def mark(self, source):
        """The newest mark, made if a synced store has changed since the last one."""
        newest = self.newest_number()
        if newest != self.newest_mark().seq:
            noted = {*self.own_marks.values(), *(hub.sent for hub in self.hubs.values())}
            self.add_mark(Mark(newest, self.clock, source.mark_bits()), noted)
        return self.newest_mark()

    def cursor(self, peer, store):
        return self.cursors.get((peer, store), START)

    def note_read(self, peer, stores, mark):
        self.cursors.update({(peer, store): mark for store in stores})

    def own_mark(self, peer):
        """The newest own mark that a peer has read, in any store."""
        marks = [mark for (other, _), mark in self.own_marks.items() if other == peer]
        return max(marks, default=START, key=lambda mark: mark.seq)

    def note_own_mark(self, peer, stores, mark):
        """A noted mark is kept: without it the file would look like a copy to the peer."""
        for store in stores:
            old = self.own_marks.get((peer, store), START)
            if mark != old and mark.seq >= old.seq:
                self.own_marks[peer, store] = mark

    # Replica IDs

    def take_new_id(self, new_id):
        """For a copy or a restored backup that is noticed before it writes: all that was written
        under the old ID until now is known, and no row changes."""
        for store in self.synced_stores():
            self.seen.raise_to(store, self.id, self.clock)
        self.rename(new_id)

    def rotate(self, new_id, since, other):
        """For a file that may have written beside a twin. Own rows after the mark `since`, the last
        that both share for sure, get the new ID, unless the other side holds the very same row: the
        old ID is the twin's too, and a vector that covers the twin's writes must not cover these.
        They get new numbers, because a hub may have them under the old ID."""
        stores = self.synced_stores()
        for key, e in self.rows(stores):
            is_unread = e.replica == self.id and e.seq > since.seq
            if is_unread and not e.is_same_row(other.entries.get(key)):
                self.put(key, e._replace(replica=new_id))
        for store in stores:
            self.seen.raise_to(store, self.id, since.time)
        self.rename(new_id)

    def rename(self, new_id):
        self.former.add(self.id)
        self.id = new_id

    # Upkeep

    def compact(self, before):
        """Drops tombstones. Returns their keys, to be sent to a hub that the file has read."""
        keys = [key for key, e in self.entries.items() if e.value is None and e.time < before]
        self.forget(keys)
        return keys

    def repair_clock(self, now, source):
        """If the clock was ahead: writes the late rows anew, in their order, as of now, under a new
        ID. What is claimed of the future, vectors and own marks, is cut to the new clock."""
        due = now + REPAIR
        if self.clock <= due:
            return
        self.take_new_id(source.replica_id())
        late = sorted((e.order(), key) for key, e in self.entries.items() if e.time > due)
        times = [e.time for e in self.entries.values()] + [mark.time for mark in self.marks]
        times += self.seen.all_times()
        self.clock = max([now] + [time for time in times if time <= due])
        for vector in self.seen.times.values():
            vector.update({replica: min(time, self.clock) for replica, time in vector.items()})
        self.cut_own_marks()
        for _, key in late:
            self.write_anew(key, self.entries[key].value, now)

    def cut_own_marks(self):
        def cut(mark):
            return mark._replace(time=min(mark.time, self.clock))
        self.marks = [cut(mark) for mark in self.marks]
        self.own_marks = {peer: cut(mark) for peer, mark in self.own_marks.items()}
        self.hubs = {i: hub._replace(sent=cut(hub.sent)) for i, hub in self.hubs.items()}


# One direction

def decide(local, incoming, receiver_covers, giver_covers):
    """What to do with an incoming row: (apply it?, the write that lost unseen, or None)."""
    if local is None:
        return True, None
    wins = incoming.order() > local.order()
    if local.value == incoming.value:
        return wins, None
    if wins:
        return True, None if giver_covers else local
    return False, None if receiver_covers else incoming


class Pull:
    """Reads rows of a giver, file or hub, into a receiver, page by page.

    `sent(key, local)` says whether the giver has read a local row. `doubted` is a replica ID whose
    writes after a time the receiver has not read, whatever its vectors say.
    """

    def __init__(self, receiver, stores, horizon, doubted=None):
        self.receiver, self.stores, self.horizon = receiver, stores, horizon
        self.doubted = doubted
        self.taken = set()     # the numbers that this pull has given to rows
        self.waiting = []      # rows from the future
        self.has_news = False  # whether a row was applied or logged

    def apply(self, rows, giver_vectors, sent):
        """One page; the caller commits it."""
        receiver = self.receiver
        own = receiver.vectors(self.stores, receiver.clock)
        if self.doubted:
            own.lower(*self.doubted)
        for key, row in rows:
            if row.time > self.horizon:
                self.waiting.append((key, row))
                continue
            local = receiver.entries.get(key)
            is_sent = local is not None and sent(key, local)
            apply, lost = decide(local, row, own.cover(key, row),
                                 is_sent or local and giver_vectors.cover(key, local))
            receiver.clock = max(receiver.clock, row.time)
            self.has_news |= apply or lost is not None
            if lost:
                receiver.log(key, lost, row if apply else local)
            if apply:
                receiver.put(key, row)
                self.taken.add(receiver.seq)
            elif is_sent and not row.is_same_row(local):
                # The giver has read the local row once, and has forgotten it.
                receiver.put(key, local)

    def finish(self, giver_vectors):
        """With the last page: only now everything that the vectors cover has been read. The
        horizon moves all the time: what is cut there counts only together with a new row."""
        receiver = self.receiver
        if self.doubted:
            giver_vectors.lower(*self.doubted)
        if not self.has_news:
            giver_vectors = giver_vectors.up_to(self.horizon)
        receiver.seen.unite(giver_vectors, self.stores, self.horizon)
        times = [t for s in self.stores for t in giver_vectors.times.get(s, {}).values()]
        receiver.clock = max([receiver.clock] + [min(time, self.horizon) for time in times])
        for store in self.stores:
            receiver.seen.times.get(store, {}).pop(receiver.id, None)

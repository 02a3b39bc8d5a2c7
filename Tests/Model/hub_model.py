# SPDX-License-Identifier: Apache-2.0
"""The specification of sync with a hub, on top of `sync_model.py`.

A hub keeps a log of the newest row of each key, and compares marks. It understands nothing else:
rows and vectors are opaque to it.
"""
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Optional

import sync_model
from sync_model import REPAIR, SKEW, START, History, Mark, Pull, Vectors, is_synced

ATTEMPTS = 12           # how often one sync begins


class HubClockError(Exception):
    """The clocks of hub and device differ by nearly a day: one of them is wrong."""


class HubCursor(NamedTuple):
    """What a file knows of a hub. Rows up to `sent` are on the hub, or lost to rows that are, but
    for those that were held back: `held` has their numbers. A hub that does not know `newest` any
    more, the last mark that it has told, was set back: it may lack what was sent."""
    read: Mark = START
    newest: Mark = START
    sent: Mark = START
    held: tuple = ()


class Answer(NamedTuple):
    """A page of rows, and what the hub was when it was read."""
    rows: list
    is_last: bool
    newest: Mark
    vectors: Vectors
    remembered: Optional[Mark]   # the mark that the device had at its last push
    knows_device_cursor: bool
    clock: int
    limit: int


def united(all_vectors):
    """What all of them cover."""
    result = Vectors()
    for vectors in all_vectors:
        result.unite(vectors, vectors.times, max(vectors.all_times(), default=0))
    return result


def is_held_back(row, horizon, limit):
    """Rows from the hub's future, and rows that are too large for it, stay in the file."""
    return row.time > horizon or len(row.value or "") > limit


@dataclass
class Hub(History):
    """One account of a hub."""
    clock: int = 0                                # the wall clock
    limit: int = 1_000_000                        # the longest value
    devices: dict = field(default_factory=dict)   # replica ID -> its mark at its last push
    numbers: dict = field(default_factory=dict)   # replica ID -> the number after that push
    pushed: list = field(default_factory=list)    # (number, vectors) of pushes that none has read

    def copy(self):
        return replace(
            self, entries=dict(self.entries), seen=self.seen.copy(), marks=list(self.marks),
            forgotten=dict(self.forgotten), devices=dict(self.devices),
            numbers=dict(self.numbers), pushed=list(self.pushed))

    def now(self):
        """Never before the last push, though the wall clock may be set back: a device must be able
        to read what another could push. A day is the exception: then the clock was wrong at that
        push, or is wrong now, and each device can tell which by its own clock."""
        newest = self.newest_mark().time
        return newest if self.clock < newest <= self.clock + REPAIR else self.clock

    def get(self, replica, cursor, position, last_answer, page, all_vectors=False):
        """Rows after a position. Each page of a sync names the cursor and the last answer's newest
        mark: between two pages tombstones may be dropped, and the hub may be set back. The vectors
        are those since the cursor, or all."""
        rows = [row for row in self.rows({key.store for key in self.entries})
                if row[1].seq > position]
        since = last_answer if cursor == START else cursor    # a first reading may have pages
        has_all = since == START or since.seq >= max(self.forgotten.values(), default=0)
        unread = united(vectors for number, vectors in self.pushed
                        if number > (0 if all_vectors else cursor.seq))
        unread.truth = self.seen.truth    # the device has united the others
        knows = self.knows(cursor) is True and self.knows(last_answer) is True
        return Answer(rows[:page], len(rows) <= page, self.newest_mark(), unread,
                      self.devices.get(replica), has_all and knows, self.now(), self.limit)

    def push(self, base, last_answer, rows, replica, source, last=None):
        """One transaction. Returns the new mark, and whether nobody has pushed since `base`; None
        if others have since written one of these keys, or forgotten any, or a twin has pushed.
        `last` goes with the last page: the device's mark and vectors. A vector that covers rows of
        pages to come would hide conflicts. Vectors replace those that their device has read: a hub
        cannot unite any."""
        is_read = all(key not in self.entries or self.entries[key].seq <= base.seq
                      for key, _ in rows)
        has_all = base.seq >= max(self.forgotten.values(), default=0)
        has_no_twin = self.numbers.get(replica, 0) <= base.seq
        if not (is_read and has_all and has_no_twin
                and self.knows(base) and self.knows(last_answer)):
            return None
        is_next = base == self.newest_mark()
        for key, row in rows:
            self.seq += 1
            self.entries[key] = row._replace(seq=self.seq)
        self.seq += not rows    # each push has a number of its own
        if last:
            self.devices[replica], self.numbers[replica] = last[0], self.seq
            self.pushed = [old for old in self.pushed if old[0] > base.seq]
            self.pushed.append((self.seq, last[1].copy()))
            self.seen = united(vectors for _, vectors in self.pushed)
        mark = Mark(self.seq, self.now(), source.mark_bits())
        self.add_mark(mark, set())
        return mark, is_next

    def drop(self, base, keys):
        """A device that has read everything says which tombstones it has dropped."""
        if base == self.newest_mark():
            self.forget([k for k in keys if k in self.entries and self.entries[k].value is None])


def sync_with_hub(device, hub, wall, source, step):
    """Reads what the hub has, then pushes what it lacks. If the hub refuses a page, because others
    have written one of its keys, the next attempt begins anew. Returns False if that did not
    succeed; the next sync continues."""
    known = Known(page=sync_model.PAGE)
    return any(HubSync(device, hub, wall, source, step, known).run() for _ in range(ATTEMPTS))


@dataclass
class Known:
    """What the attempts of one sync know of the hub. If it does not know this mark any more, it was
    set back, and may have lost the rows."""
    rows: dict = field(default_factory=dict)
    unread: set = field(default_factory=set)    # keys whose rows are of a newer version
    newest: Optional[Mark] = None    # None before the first answer: what the file has noted counts
    is_lost: bool = False      # the hub does not know what the file has noted of it
    owes_mark: bool = False    # rows were pushed, and no mark and vectors after them
    page: int = 0              # rows of a page: fewer after a refusal, so that other keys pass
    forgotten: Optional[dict] = None    # what the file had forgotten when all of the hub was read

    def add(self, rows, newest, unread=()):
        self.rows.update(rows)
        self.unread = self.unread.difference(key for key, _ in rows).union(unread)
        self.newest = newest


class HubSync:
    """One attempt. At each step other processes may write to the file, merge, rotate, repair or
    compact it, or sync it with the hub: every transaction reads what it needs, and the attempt ends
    if the file has forgotten tombstones meanwhile: they may be what this attempt has to push."""

    def __init__(self, device, hub, wall, source, step, known):
        self.device, self.hub, self.wall, self.source = device, hub, wall, source
        self.step, self.known = step, known
        self.cursor = device.hubs.get(hub.id, HubCursor())
        self.forgotten = dict(device.forgotten)

    def run(self):
        return self.pull() and self.push()

    def is_disturbed(self):
        return self.device.forgotten != self.forgotten

    def newest(self):
        """The newest mark that the hub has told this sync, or any process of the device before."""
        return self.cursor.newest if self.known.newest is None else self.known.newest

    def note(self, cursor):
        if cursor != self.cursor:
            self.device.hubs[self.hub.id] = self.cursor = cursor

    def pull(self):
        """Ends in the middle of a transaction, which `push` commits."""
        device, cursor = self.device, self.cursor
        is_read_in_full = self.known.forgotten == self.forgotten
        if (not is_read_in_full
                and self.first_lost(cursor) <= max(self.forgotten.values(), default=0)):
            cursor = HubCursor()    # The hub may still have what was deleted.
        if self.known.is_lost:
            cursor = HubCursor()
        position, pages = cursor.read.seq, Pull(device, set(), 0)
        while True:
            answer = self.hub.get(
                device.id, cursor.read, position, self.newest(), sync_model.PAGE,
                self.has_unsent(cursor))
            self.step("answered")
            if abs(answer.clock - self.wall) > REPAIR - 2 * SKEW:
                raise HubClockError
            if self.is_disturbed():
                return False
            if answer.remembered and device.knows(answer.remembered) is False:
                rows = History(0, entries=dict(answer.rows))
                device.rotate(self.source.replica_id(), self.cursor.sent, rows)
                self.step("rotated")
                return False
            if not answer.knows_device_cursor:    # The device is new, or the hub was set back.
                self.known.rows.clear()
                self.known.newest, self.known.is_lost = START, True
                return False
            rows = [(key, row) for key, row in answer.rows if row.value not in device.unreadable]
            pages.stores = pages.stores | {key.store for key, _ in rows}
            pages.horizon = answer.clock + SKEW
            pages.apply(rows, answer.vectors, lambda key, row: self.has_sent(cursor, row))
            unread = {key for key, row in answer.rows if row.value in device.unreadable}
            self.known.add(rows, answer.newest, unread)
            if answer.is_last:
                break
            position = answer.rows[-1][1].seq
            self.step("page")
        if not self.known.unread:    # Otherwise the vectors cover what was not read.
            pages.stores = pages.stores | set(answer.vectors.times)
            pages.finish(answer.vectors)
        self.answer = answer
        has_read_all = not pages.waiting and not self.known.unread
        read = answer.newest if has_read_all else cursor.read
        self.note(cursor._replace(read=read, newest=answer.newest))
        self.known.is_lost = False
        if cursor == HubCursor():
            self.known.forgotten = self.forgotten
        return True

    def first_lost(self, cursor):
        """The lowest number of a tombstone that the hub lacks, if the file has dropped it."""
        numbers = {row.seq for row in self.device.entries.values()}
        return min(set(cursor.held) - numbers, default=cursor.sent.seq + 1)

    def has_sent(self, cursor, row):
        return row.seq <= cursor.sent.seq and row.seq not in cursor.held

    def has_unsent(self, cursor):
        """Some rows may have come from this hub, before a push failed: the vectors that cover
        them are as old as they are."""
        return self.device.newest_number() > cursor.sent.seq or bool(cursor.held)

    def push(self):
        """Pushes in pages. The last one is read with mark and vectors, in one transaction. If
        others push meanwhile, `base` stays: the device has not read what they have pushed."""
        device, answer, position = self.device, self.answer, 0
        horizon, limit, base = answer.clock + SKEW, answer.limit, answer.newest
        has_read_all = self.cursor.read == base
        while True:
            rows, held = self.unsent(position, horizon, limit)
            page, last = rows[:self.known.page], None
            if len(rows) <= self.known.page:
                mark = device.mark(self.source)
                last = (mark, self.vectors_without(held, horizon, mark))
            if page or self.known.owes_mark:
                self.step("read")
                taken = self.hub.push(
                    base, self.known.newest, page, device.id, self.source, last)
                self.step("pushed")
                if not taken:
                    self.known.page = max(1, self.known.page // 4)
                    return False
                newest, is_next = taken
                self.known.page = min(2 * self.known.page, sync_model.PAGE)
                self.known.owes_mark = not last
                if self.is_disturbed():
                    return False
                self.known.add(page, newest)
                base = newest if is_next else base
                position = page[-1][1].seq if page else position
            if last:
                read = base if has_read_all else self.cursor.read
                sent = mark._replace(time=min(mark.time, device.clock))    # after a repair
                self.note(HubCursor(
                    read, self.known.newest, sent, tuple(row.seq for _, row in held)))
                self.step("noted")
                return True

    def unsent(self, position, horizon, limit):
        """The rows to push, and the rows to hold back. A row that waits on the hub is not replaced,
        and the hub does not get the older one; one with another ID is, because the file may have
        rotated since it was read. Nor is a row of a newer version replaced."""
        rows, held = [], []
        for key, row in self.device.rows(self.device.synced_stores()):
            if self.has_sent(self.cursor, row):
                continue
            there = self.known.rows.get(key)
            if is_held_back(row, horizon, limit):
                held.append((key, row))
            elif key in self.known.unread or there and row.time < there.time:
                held.append((key, row))
            elif row.seq > position and not row.is_same_row(there):
                rows.append((key, row))
        return rows, held

    def vectors_without(self, held, horizon, mark):
        """What the hub will have read after this push."""
        device, vectors = self.device, Vectors()
        stores = device.synced_stores()
        vectors.unite(device.vectors(stores, mark.time), stores, horizon)
        for key, row in held:
            vector = vectors.times[key.store]
            vector[row.replica] = min(vector.get(row.replica, 0), row.time - 1)
        return vectors


def join(device, keeps_values, source):
    """Before the first sync with another account. Unless the user keeps the values (`--merge`), the
    synced stores begin empty, as in a new file: nothing of the old account reaches the new one."""
    device.hubs.clear()
    if not keeps_values:
        for key in [key for key in device.entries if is_synced(key.store)]:
            del device.entries[key]
            device.events.append((key, None))
        device.id, device.seen = source.replica_id(), Vectors()
        device.cursors, device.own_marks, device.marks = {}, {}, []
        device.forgotten, device.conflicts = {}, []

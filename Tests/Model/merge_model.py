# SPDX-License-Identifier: Apache-2.0
"""The specification of merges of files, on top of `sync_model.py`.

`merge` and `merge_one_way` are what one process does that has several files open, and holds their
leases.
"""
import itertools

import sync_model
from sync_model import SKEW, START, Pull, is_synced


def pull(receiver, giver, stores, now, source, step, in_full=(), skip=(), is_writable=True,
         doubted=None):
    """Reads a file into another, page by page. Each transaction reads the rows as they are, and
    applies them; rows that are written meanwhile come later, for their numbers are higher. The
    giver is marked in the transaction that reads a page, so what has been read after the last page
    is its state at its mark.

    Returns the mark to note, which stops before the first row from the future, the giver's mark,
    and the numbers that the receiver has given to rows."""
    def cursor(store):
        read = receiver.cursor(giver.id, store)
        return read.seq if giver.knows(read) and store not in in_full else 0

    def sent(key, local):
        return local.seq <= giver.cursor(receiver.id, key.store).seq

    lower = {store: cursor(store) for store in stores}
    pages, position = Pull(receiver, stores, now + SKEW, doubted), 0
    pages.has_news = bool(skip)    # What the giver has just taken may have won over its own rows.
    while True:
        has_changed = is_writable and giver.newest_mark().seq != giver.newest_number()
        mark = giver.mark(source) if has_changed else giver.newest_mark()
        rows = [(key, row) for key, row in giver.rows(stores)
                if row.seq > max(position, lower[key.store]) and row.seq not in skip]
        # A giver that cannot be written has no mark for what came after its newest one.
        vectors = giver.vectors(stores, mark.time if is_writable else giver.clock)
        if has_changed:
            step("marked")
        if len(rows) <= sync_model.PAGE:
            break
        rows = rows[:sync_model.PAGE]
        pages.apply(rows, vectors, sent)
        position = rows[-1][1].seq
        step("page")
    pages.apply(rows, vectors, sent)
    pages.finish(vectors)
    read = mark
    if pages.waiting:
        first = pages.waiting[0][1].seq
        read = ([START] + [m for m in giver.marks if m.seq < first])[-1]
    return read, mark, pages.taken


# Copies, and what was forgotten

def separate_copies(files, source, step):
    """Gives new IDs to files that are not what the others have read: copies, or earlier states."""
    for file, other in itertools.combinations(files, 2):
        separate(other, file, source, step)
        separate(file, other, source, step)


def separate(file, other, source, step):
    """Gives a file a new ID if it has that of the other one, or is not what the other has read."""
    since = last_read(file, other)
    if since is not None:
        file.rotate(source.replica_id(), since, other)
        step("rotated")


def noted_marks(file, other):
    """The marks up to which the other file has read this one, one per store."""
    return [mark for (peer, _), mark in other.cursors.items() if peer == file.id]


def last_read(file, other):
    """The last mark up to which the other file has read this one, if it has written beside a twin:
    if both have one ID, or the other has read a mark that is not in the file's history. One that is
    too old to tell may be a twin's: a file keeps what others have noted. But it is the file's own
    if the other one, or a file of which the other is a copy, has read a later one."""
    if file.id == other.id:
        return ([START] + [mark for mark in file.marks if other.knows(mark)])[-1]
    own = max(file.own_mark(peer).seq for peer in {other.id} | other.former)
    if all(file.knows(mark) or file.knows(mark) is None and mark.seq <= own
           for mark in noted_marks(file, other)):
        return None
    return file.own_mark(other.id)


def to_read_in_full(file, other, stores):
    """The stores in which the other has not read every deletion that this file has forgotten. It
    may still have what was deleted: the value comes back, and both are the same again."""
    return {store for store in stores
            if file.forgotten.get(store, 0) > other.cursor(file.id, store).seq}


# Merges

def stores_of(files):
    """What is merged if no stores are named: all of which a file knows anything, and the first."""
    return sorted({"cloud"}.union(*(file.synced_stores() for file in files)))


def has_all(file, other, stores):
    """Whether a file has read all of another one, and knows that the other has read all of it."""
    mark = other.newest_mark()
    return mark.seq == other.newest_number() and all(
        is_synced(store) and file.cursors.get((other.id, store)) == mark
        and file.own_marks.get((other.id, store), START) == file.newest_mark()
        for store in stores)


def merge(files, stores, now, source, step):
    """Merges files both ways: each into the first, then the first into each.

    What is read of a file is its state at its mark, whatever is written meanwhile.
    """
    first, others = files[0], files[1:]
    wanted = stores or stores_of(files)
    if len(files) == 2 and first.id != others[0].id and (
            has_all(first, others[0], wanted) and has_all(others[0], first, wanted)):
        return    # Of what others have written since, at most a vector is new.
    separate_copies(files, source, step)
    stores = stores or stores_of(files)
    in_full = {}
    for other in others:
        in_full[first.id, other.id] = to_read_in_full(first, other, stores)
        in_full[other.id, first.id] = to_read_in_full(other, first, stores)

    pulls = []
    for other in others:
        read, mark, taken = pull(
            first, other, stores, now, source, step, in_full[first.id, other.id])
        first.note_read(other.id, stores, read)
        pulls.append((other, mark, read, taken))
        if other is not others[-1]:
            step("pulled")
    first.mark(source)
    step("pulled")

    notes = []
    for other, mark, read, taken in pulls:
        back, _, taken_back = pull(
            other, first, stores, now, source, step, in_full[other.id, first.id], taken)
        # If the other has nothing new but what it has just taken, its next mark counts as read.
        new = {e.seq for key, e in other.entries.items()
               if is_synced(key.store) and e.seq > mark.seq}
        if read == mark and new and new <= taken_back:
            read = other.mark(source)
        other.note_read(first.id, stores, back)
        other.note_own_mark(first.id, stores, read)
        notes.append((other.id, read, back))
        step("pulled back")
    before = dict(first.cursors), dict(first.own_marks)
    for peer, read, back in notes:
        first.note_read(peer, stores, read)
        first.note_own_mark(peer, stores, back)
    if before != (first.cursors, first.own_marks):
        step("noted")


def merge_one_way(source_file, target, stores, now, source, step, is_writable=True):
    """Reads one file into another. A source that can be written is marked; of another, the rows
    after its last mark are read again each time. If that one was set back, its writes after the last
    mark that both share are doubted: vectors that cover them are those of its twin. No cursor is
    noted, so that the next merge doubts them, too."""
    stores = stores or stores_of([source_file, target])
    last = source_file.newest_mark()
    if last != START and last.seq == source_file.newest_number() and target.knows(last):
        return    # The source is an earlier state of the target.
    separate(target, source_file, source, step)
    doubted = None
    if is_writable:
        separate(source_file, target, source, step)
    elif any(source_file.knows(mark) is False for mark in noted_marks(source_file, target)):
        doubted = source_file.id, source_file.own_mark(target.id).time
    # The next merge both ways can still tell that the target lacks forgotten deletions.
    noted = [store for store in stores if source_file.forgotten.get(store, 0)
             <= target.cursor(source_file.id, store).seq and not doubted]
    read, _, _ = pull(target, source_file, stores, now, source, step, is_writable=is_writable,
                      doubted=doubted)
    target.note_read(source_file.id, noted, read)
    target.mark(source)
    step("pulled")
    before = dict(source_file.own_marks)
    if is_writable:
        source_file.note_own_mark(target.id, noted, read)
    if before != source_file.own_marks:
        step("noted")

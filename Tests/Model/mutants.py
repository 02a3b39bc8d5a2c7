#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Deliberate faults of the model, each of which the checker has to find.

    mutants.py [WORD ...]    those whose rule has one of the words
    mutants.py --check       checks that all still apply, in a second
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent
MODEL = ["sync_model.py", "merge_model.py", "hub_model.py"]
COPIES = "--copies --unnoticed .12"

# (the rule that is broken, old, new, options of the checker); `old` occurs once in the model
MUTANTS = [
    # decide
    ("a conflict is noticed when the incoming write wins",
     "None if giver_covers else local", "None if receiver_covers else local", ""),
    ("a conflict is noticed when the incoming write loses",
     "None if receiver_covers else incoming", "None if giver_covers else incoming", ""),
    ("the order is total",
     'return (self.time, self.replica, self.value is not None, self.value or "")',
     "return (self.time,)", COPIES),
    ("two writes of one value are no conflict",
     "    if local.value == incoming.value:\n", "    if False:\n", ""),
    ("a target that was set back gets a new ID",
     "    separate(target, source_file, source, step)\n", "", ""),
    ("what is cut at the horizon counts only together with a new row",
     "        if not self.has_news:\n", "        if False:\n", ""),
    ("what a giver has just taken counts as a new row",
     "    pages.has_news = bool(skip)", "    pages.has_news = False", ""),
    ("a row of a newer version is not replaced on a hub",
     "            elif key in self.known.unread or there and row.time < there.time:\n",
     "            elif there and row.time < there.time:\n", ""),
    ("a vector does not cover rows of a newer version",
     "        if not self.known.unread:", "        if True:", ""),
    # vectors
    ("a vector covers the giver's own writes",
     "            vectors.raise_to(store, self.id, own_time)\n", "            pass\n", ""),
    ("vectors are united",
     "        receiver.seen.unite(giver_vectors, self.stores, self.horizon)\n", "", ""),
    ("vectors are united with the last page",
     "        own = receiver.vectors(self.stores, receiver.clock)\n",
     "        receiver.seen.unite(giver_vectors, self.stores, self.horizon)\n"
     "        own = receiver.vectors(self.stores, receiver.clock)\n", "--pages 1"),
    ("vectors are per store",
     "        vectors = Vectors({s: self.seen.times.get(s, {}) for s in stores}, self.seen.truth)",
     "        vectors = Vectors({s: {r: t for v in self.seen.times.values() for r, t in v.items()}"
     " for s in stores}, self.seen.truth)", ""),
    ("a vector is cut at the horizon",
     "self.raise_to(store, replica, min(time, horizon))", "self.raise_to(store, replica, time)",
     "--future"),
    ("of too many replica IDs those of the oldest times go",
     "key=lambda r: (-vector[r], r))[REPLICAS:]", "key=lambda r: (vector[r], r))[REPLICAS:]",
     ""),
    ("a write is later than all that a vector covers",
     "        receiver.clock = max([receiver.clock] + [min(time, self.horizon)"
     " for time in times])\n",
     "", ""),
    ("what is read on a page moves the clock",
     "            receiver.clock = max(receiver.clock, row.time)\n", "", "--pages 1"),
    # rows from the future
    ("a row from the future is not applied",
     "            if row.time > self.horizon:\n", "            if False:\n", "--future"),
    ("the cursor stops before a row from the future",
     "    if pages.waiting:\n", "    if False:\n", "--future"),
    # tombstones
    ("a deletion leaves a tombstone",
     "if value is None and not is_synced(key.store):", "if value is None:", ""),
    ("a store that is not synced has no tombstones",
     "        if value is None and not is_synced(key.store):\n            del self.entries[key]\n",
     "", ""),
    ("deletions that were forgotten are not half undone",
     "if giver.knows(read) and store not in in_full else 0", "if giver.knows(read) else 0",
     "--forget"),
    ("what one side has forgotten is judged before the other side is read",
     "step, in_full[other.id, first.id], taken)", "step,"
     " to_read_in_full(other, first, stores), taken)", "--forget"),
    ("a dropped tombstone counts as a number",
     "max(rows + list(self.forgotten.values()), default=0)", "max(rows, default=0)", ""),
    ("a row that loses to one that was forgotten is answered",
     "            elif is_sent and not row.is_same_row(local):", "            elif False:", ""),
    # marks
    ("a mark is committed in the file that it is of",
     "        if has_changed:\n            step",
     "        if has_changed:\n            giver.marks.pop()\n            step",
     "--copies --unnoticed 9"),
    ("what is read is the state at the mark",
     "        has_changed = is_writable and", "        has_changed = is_writable and not position and",
     "--pages 1"),
    ("an earlier page is none of the last",
     "        pages.apply(rows, vectors, sent)\n        position",
     "        pages.apply(rows, vectors, sent)\n        pages.finish(vectors)\n        position",
     "--pages 1"),
    ("rows that are written between two pages are read",
     "        position = rows[-1][1].seq\n",
     "        position = giver.seq if len(rows) == len(pages.taken) else rows[-1][1].seq\n",
     "--pages 1"),
    ("the cursor is the giver's mark",
     "    read = mark\n", "    read = mark._replace(seq=giver.seq + 1)\n", ""),
    ("a mark counts synced stores only",
     "        rows = [e.seq for key, e in self.entries.items() if is_synced(key.store)]\n",
     "        rows = [e.seq for e in self.entries.values()]\n", ""),
    ("a trimmed mark is no other file's",
     "return None if mark.seq <= self.trimmed else False", "return False", "--marks 2 --hub too"),
    ("a mark that others have noted is kept",
     "if m not in noted]\n        self.trimmed", "]\n        self.trimmed", "--marks 2"),
    ("a cursor is of one store",
     "(peer, store): mark for store in stores}", "(peer, store): mark"
     " for store in self.synced_stores()}", ""),
    # echo
    ("only rows that this sync has written are left out",
     "and row.seq not in skip]", "and row.seq not in skip and row.replica != receiver.id]",
     "--copies --unnoticed 9"),
    ("rows that this sync has written are left out",
     "and row.seq not in skip]", "]", ""),
    ("only what this pull has taken is left out",
     "                self.taken.add(receiver.seq)\n",
     "                self.taken.update(range(receiver.seq + 1))\n", "--pages 1"),
    ("what is written meanwhile is read",
     "if read == mark and new and new <= taken_back:", "if read == mark and new:", ""),
    ("what was just taken from a file is not read back",
     "if read == mark and new and new <= taken_back:", "if False:", ""),
    ("what another target wrote into the first file is not left out",
     "        pulls.append((other, mark, read, taken))\n",
     "        pulls.append((other, mark, read, taken.union(*(p[3] for p in pulls))))\n", ""),
    ("an own mark is noted when the other has read it",
     "    first.mark(source)\n    step(\"pulled\")\n",
     "    first.mark(source)\n    for other in others:\n"
     "        first.note_own_mark(other.id, stores, first.newest_mark())\n"
     "    step(\"pulled\")\n", ""),
    ("an own mark is the one that the other has read",
     "        first.note_own_mark(peer, stores, back)\n",
     "        first.note_own_mark(\n"
     "            peer, stores, first.newest_mark()._replace(seq=first.seq + 1))\n", ""),
    ("a merge without news reads a file that has changed since its mark",
     "    return mark.seq == other.newest_number() and all(\n", "    return all(\n", ""),
    # copies
    ("a file of another history is found",
     "        return None\n    return file.own_mark(other.id)\n", "        return None\n", ""),
    ("a file whose noted mark is too old is found",
     "file.knows(mark) is None and mark.seq <= own", "file.knows(mark) is None", ""),
    ("a file keeps its ID if a copy of a peer has noted a mark that is too old",
     "for peer in {other.id} | other.former)", "for peer in {other.id})", ""),
    ("the mark of a copy that a copy of a peer has noted is found",
     "mark.seq <= own\n", "(mark.seq <= own or other.former)\n", ""),
    ("each file is compared with each other one",
     "itertools.combinations(files, 2):", "((files[0], other) for other in files[1:]):", ""),
    ("two files of one ID are found",
     "    if file.id == other.id:\n", "    if False:\n", ""),
    ("a vector of an ID that had a twin ends at the shared mark",
     "            self.seen.raise_to(store, self.id, since.time)\n",
     "            self.seen.raise_to(store, self.id, self.clock)\n", ""),
    ("what was written since the last sync gets the new ID",
     "            if is_unread and not", "            if False and not", ""),
    ("a row that the other side has keeps its ID",
     "            if is_unread and not e.is_same_row(other.entries.get(key)):",
     "            if is_unread:", "--copies --noticed .5 --unnoticed .1 --invented .1"),
    ("what is relabelled is sent again",
     "                self.put(key, e._replace(replica=new_id))\n",
     "                self.entries[key] = e._replace(replica=new_id)\n",
     ""),
    ("a copy that is noticed at once covers what it has",
     "            self.seen.raise_to(store, self.id, self.clock)\n        self.rename",
     "            pass\n        self.rename", "--copies --noticed 1"),
    # one way
    ("an earlier state of the target is not read",
     "    if last != START and last.seq ==", "    if False and last.seq ==", ""),
    ("only an earlier state of the target is not read",
     "    if last != START and last.seq == source_file.newest_number() and target",
     "    if last != START and target", ""),
    ("a source that can be written is marked",
     "source, step, is_writable=is_writable,\n", "source, step, is_writable=False,\n", ""),
    ("a source that was set back takes another ID",
     "        separate(source_file, target, source, step)\n", "        pass\n", ""),
    ("a source that was set back, and cannot be written, is not taken for read",
     "        doubted = source_file.id, source_file.own_mark(target.id).time\n", "        pass\n", ""),
    ("what such a source has written since is not taken for read by a later merge",
     " and not doubted]", "]", ""),
    ("a vector does not cover what the twin of such a source wrote meanwhile",
     "            giver_vectors.lower(*self.doubted)\n", "            pass\n", ""),
    ("a source that was not set back, and whose noted mark is too old, is not doubted",
     "source_file.knows(mark) is False for", "not source_file.knows(mark) for", ""),
    ("a source keeps a mark that a target has noted",
     "        source_file.note_own_mark(target.id, noted, read)\n", "        pass\n", ""),
    ("a file keeps a noted mark of each store",
     "                self.own_marks[peer, store] = mark\n",
     "                self.own_marks[peer, stores[0]] = mark\n", ""),
    ("the bits of a mark identify it",
     "mark.bits in {m.bits for m in self.marks}", "mark in self.marks", ""),
    ("a one-way merge does not move the cursor over forgotten deletions",
     "noted = [store for store in stores if source_file.forgotten.get(store, 0)\n"
     "             <= target.cursor(source_file.id, store).seq and",
     "noted = [store for store in stores if", ""),
    ("what came after the last mark of a source is no conflict",
     "vectors = giver.vectors(stores, mark.time if is_writable else giver.clock)\n",
     "vectors = giver.vectors(stores, mark.time)\n", ""),
    # repair
    ("a repair is later than what was read",
     "        self.clock = max([now] + [time for time in times if time <= due])\n",
     "        self.clock = now\n", "--future"),
    ("a repair is later than own writes that were marked",
     " + [mark.time for mark in self.marks]\n", "\n", "--hub too --future --seed 20000"),
    ("a repair takes a new ID",
     "        self.take_new_id(source.replica_id())\n        late", "        late",
     "--future --histories 6000"),
    ("a repair cuts vectors",
     "min(time, self.clock) for replica", "time for replica", "--future"),
    ("a repair cuts own marks", "        self.cut_own_marks()\n", "", ""),
    ("a clock is repaired though no row is late",
     "        if self.clock <= due:\n",
     "        if all(e.time <= due for e in self.entries.values()):\n", ""),
    # events and conflicts
    ("a row that only gets a new number is no event",
     "        if (before.value if before else None) != entry.value:\n", "        if True:\n", ""),
    ("a conflict is logged once",
     "        if all((c.key, c.lost.time, c.lost.replica) != (key, lost.time, lost.replica)\n"
     "               for c in self.conflicts):\n", "        if True:\n", ""),
    ("a resolver's value is written",
     "        if key not in self.entries or self.entries[key].value != value:\n",
     "        if False:\n",
     ""),
    # hubs
    ("a push replaces only what its device has read",
     "        is_read = all(", "        is_read = True or all(", "--hub only"),
    ("a push counts only if its device has read what was forgotten",
     "        has_all = base.seq >= max(self.forgotten.values(), default=0)\n",
     "        has_all = True\n", ""),
    ("a push counts only if the hub was not set back meanwhile",
     "and self.knows(base) and self.knows(last_answer)", "and self.knows(base)", ""),
    ("a push names a mark of the hub's history",
     "and self.knows(base) and self.knows(last_answer)", "and self.knows(last_answer)", ""),
    ("a push names the newest mark that its device knows of",
     "base, self.known.newest, page, device.id", "base, base, page, device.id", ""),
    ("a sync names the newest mark of the one before",
     "return self.cursor.newest if", "return START if", ""),
    ("a device has not read what others push meanwhile",
     "        is_next = base == self.newest_mark()\n", "        is_next = True\n", "--hub only"),
    ("a device goes on from what it has read",
     "base = newest if is_next else base", "base = newest", "--hub only --pages 1"),
    ("a page that is refused is followed by a smaller one",
     "                    self.known.page = max(1, self.known.page // 4)\n", "", ""),
    ("pages grow again as they are taken",
     "                self.known.page = min(2 * self.known.page, sync_model.PAGE)\n", "", ""),
    ("vectors that cover unsent rows of a hub are sent again",
     "                self.has_unsent(cursor))\n", "                False)\n", ""),
    ("a device that has sent everything is not sent vectors again",
     "                self.has_unsent(cursor))\n", "                True)\n", ""),
    ("a push without rows has a number",
     "        self.seq += not rows    # each push has a number of its own\n", "", ""),
    ("a mark is owed after a reset",
     "                self.known.newest, self.known.is_lost = START, True\n",
     "                self.known.newest, self.known.is_lost = START, True\n"
     "                self.known.owes_mark = False\n", ""),
    ("the cursor stays before rows that wait",
     "read = base if has_read_all else self.cursor.read", "read = base",
     "--hub only --future"),
    ("vectors that a later push has read go",
     "for old in self.pushed if old[0] > base.seq]", "for old in self.pushed]", ""),
    ("vectors up to what a device has read go",
     "for old in self.pushed if old[0] > base.seq]",
     "for old in self.pushed if old[0] >= base.seq]",
     ""),
    ("a push has the number after it",
     "self.devices[replica], self.numbers[replica] = last[0], self.seq",
     "self.devices[replica], self.numbers[replica] = last[0], base.seq", ""),
    ("a push brings the device's vectors",
     "self.pushed.append((self.seq, last[1].copy()))",
     "self.pushed.append((self.seq, Vectors((), last[1].truth)))", "--hub only"),
    ("vectors that no later push has read are kept",
     "for old in self.pushed if old[0] > base.seq]", "for old in self.pushed if False]", ""),
    ("a hub remembers the mark of a device",
     "self.devices[replica], self.numbers[replica] = last[0], self.seq",
     "self.numbers[replica] = self.seq", "--hub only " + COPIES),
    ("a twin that has pushed meanwhile is found",
     "        has_no_twin = self.numbers.get(replica, 0) <= base.seq\n",
     "        has_no_twin = True\n", ""),
    ("the vectors go with the last page",
     "            if len(rows) <= self.known.page:\n", "            if True:\n",
     "--hub only --pages 1"),
    ("mark and vectors are sent though nothing is left to push",
     "            if page or self.known.owes_mark:\n", "            if page:\n", ""),
    ("rows below `sent` are not pushed again",
     "            if self.has_sent(self.cursor, row):\n",
     "            if False:\n", "--hub only"),
    ("rows that were read are not pushed back",
     " and not row.is_same_row(there):", ":", "--hub only"),
    ("a row that got another ID during a sync is pushed",
     "or there and row.time < there.time:", "or there and row.order() < there.order():", ""),
    ("a row that waits on a hub is not replaced by an older one",
     "or there and row.time < there.time:", "or False:", "--hub only --future"),
    ("a row that is older than one that waits on a hub is held back",
     "            elif key in self.known.unread or there and row.time < there.time:\n                held.append((key, row))\n",
     "            elif key in self.known.unread or there and row.time < there.time:\n                pass\n", ""),
    ("a repair during a sync cuts the mark that was sent",
     "mark._replace(time=min(mark.time, device.clock))    # after a repair", "mark", ""),
    ("a hub is read in full once for what a device has forgotten",
     "        is_read_in_full = self.known.forgotten == self.forgotten\n",
     "        is_read_in_full = False\n", ""),
    ("a hub is read in full again for what a device forgets during the sync",
     "        is_read_in_full = self.known.forgotten == self.forgotten\n",
     "        is_read_in_full = self.known.forgotten is not None\n", ""),
    ("a hub that was set back is found",
     "        knows = self.knows(cursor) is True and", "        knows =",
     ""),
    ("what a hub that was set back does not have is not taken for known",
     "                self.known.rows.clear()\n", "", ""),
    ("a hub that is set back between two attempts is found",
     "is None else self.known.newest", "is None else self.cursor.newest", ""),
    ("what another process has noted of a hub meanwhile counts",
     "        self.cursor = device.hubs.get(hub.id, HubCursor())\n",
     "        self.cursor = device.hubs.get(hub.id, HubCursor())\n"
     "        if known.newest is None:\n            known.newest = self.cursor.newest\n", ""),
    ("a hub that is set back between two pages is found",
     " and self.knows(last_answer) is True", "", ""),
    ("deletions that a hub has forgotten",
     "        has_all = since == START or since.seq >= max(self.forgotten.values(), default=0)\n",
     "        has_all = True\n", "--hub only --forget"),
    ("a first reading in pages notices what was forgotten",
     "        since = last_answer if cursor == START else cursor ", "        since = cursor ", ""),
    ("deletions that a device has forgotten",
     "                and self.first_lost(cursor) <= max(self.forgotten.values(), default=0)):\n",
     "                and False):\n",
     "--hub only --forget"),
    ("a tombstone that is dropped while it is held back",
     "        return min(set(cursor.held) - numbers, default=cursor.sent.seq + 1)\n",
     "        return cursor.sent.seq + 1\n", ""),
    ("a row that is held back beside a dropped tombstone", "set(cursor.held) - numbers",
     "cursor.held", ""),
    ("what a hub has lost is pushed though the attempt that has found it ends",
     "        if self.known.is_lost:\n", "        if False:\n", ""),
    ("a tombstone that is dropped during a sync",
     "        return self.device.forgotten != self.forgotten\n", "        return False\n", ""),
    ("a row whose time has come is pushed",
     "        return row.seq <= cursor.sent.seq and row.seq not in cursor.held",
     "        return row.seq <= cursor.sent.seq",
     "--hub only --future"),
    ("rows that wait do not hold back `sent`",
     "                sent = mark._replace", "                sent = START if held else mark._replace",
     "--hub only"),
    ("a row from the hub's future is not pushed",
     "    return row.time > horizon or len", "    return len", "--hub only --future"),
    ("a row that is too large is not pushed",
     "    return row.time > horizon or len(row.value or \"\") > limit",
     "    return row.time > horizon", ""),
    ("the vectors do not cover a row that is held back",
     "            vector[row.replica] = min(vector.get(row.replica, 0), row.time - 1)\n",
     "            pass\n", ""),
    ("a row that was sent is known to the hub",
     "                                 is_sent or local and giver",
     "                                 local and giver",
     ""),
    ("a row that waits for a hub was not sent",
     "and row.seq not in cursor.held", "and True", ""),
    ("a hub's clock is not before its last push",
     "        return newest if self.clock < newest <= self.clock + REPAIR else self.clock",
     "        return self.clock", ""),
    ("a hub's clock that was more than a day ahead counts no more",
     "        return newest if self.clock < newest <= self.clock + REPAIR else self.clock",
     "        return max(self.clock, newest)", ""),
    ("a hub whose clock is a day off is refused",
     "            if abs(answer.clock - self.wall) > REPAIR - 2 * SKEW:\n",
     "            if False:\n", ""),
    ("a device that joins another account starts empty",
     "    if not keeps_values:\n", "    if False:\n", ""),
    ("a device that joins another account takes a new ID",
     "        device.id, device.seen = source.replica_id(), Vectors()\n",
     "        device.seen = Vectors()\n", ""),
]


def sources_of_model():
    return {name: (FOLDER / name).read_text() for name in MODEL}


def applies(mutant, sources):
    return sum(source.count(mutant[1]) for source in sources.values()) == 1


def run(mutant, folder):
    """Returns what the checker says, or None if it finds nothing."""
    _, old, new, options = mutant
    sources = sources_of_model()
    if not applies(mutant, sources):
        return "DOES NOT APPLY"
    for file in FOLDER.glob("*.py"):
        shutil.copy(file, folder)
    for name, source in sources.items():
        (folder / name).write_text(source.replace(old, new))
    arguments = [sys.executable, "-B", "check.py", "--histories", "3000", "--stop"]
    result = subprocess.run(
        arguments + options.split(), cwd=folder, capture_output=True, text=True)
    lines = (result.stdout + result.stderr).strip().split("\n")
    return [line for line in lines if "--one" not in line][-1][:90] if result.returncode else None


def main():
    words = sys.argv[1:]
    if words == ["--check"]:
        sources = sources_of_model()
        wrong = [mutant[0] for mutant in MUTANTS if not applies(mutant, sources)]
        print("\n".join(["does not apply: " + rule for rule in wrong]
                        + ["%d of %d apply" % (len(MUTANTS) - len(wrong), len(MUTANTS))]))
        sys.exit(1 if wrong else 0)
    chosen = [m for m in MUTANTS if not words or any(word in m[0] for word in words)]
    if not chosen:
        print(__doc__, file=sys.stderr)
        sys.exit(64)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        for mutant in chosen:
            found = run(mutant, pathlib.Path(folder))
            is_found = found is not None and "DOES NOT APPLY" not in found
            survivors += not is_found
            print("found    " if is_found else "SURVIVED ", mutant[0], "|", found, flush=True)
    print("%d of %d found" % (len(chosen) - survivors, len(chosen)))
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main()

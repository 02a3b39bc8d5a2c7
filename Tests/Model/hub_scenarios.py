# SPDX-License-Identifier: Apache-2.0
"""Small histories with hubs, as in `scenarios.py`."""
import itertools

import hub_model
import sync_model
from hub_model import Hub, HubClockError
from scenarios import Crashed, are_equal, losers, once, pages_of, rule, value
from sync_model import REPAIR, Key


def with_one_key(lab):
    """A hub and two files that have a key in common."""
    hub, (a, b) = Hub(9), lab.files(2)
    lab.write(a, "k", "old")
    lab.hub(a, hub), lab.hub(b, hub)
    return hub, a, b



@rule("a row of a newer version that a device cannot read is not replaced on a hub unread")
def newer_version(lab):
    hub, (old, new) = Hub(9), lab.files(2)
    old.unreadable.add("point")
    lab.hub_in_turn(hub, old, new)
    lab.write(new, "k", "point")
    lab.hub(new, hub)
    lab.write(old, "k", "of old")
    lab.hub_in_turn(hub, old, new)
    is_kept = value(hub, "k") == "point"
    old.unreadable.clear()
    lab.hub_in_turn(hub, old, new)
    return is_kept and losers(old, new) == ["point"] and are_equal(old, new)


@rule("vectors that cover a row of a newer version are not noted before that is read")
def vectors_of_a_newer_version(lab):
    hub, (old, new) = Hub(9), lab.files(2)
    old.unreadable.add("point")
    lab.write(old, "k", "of old")
    lab.write(new, "k", "point")
    lab.hub_in_turn(hub, new, old)
    lab.write(old, "k", "again")
    old.unreadable.clear()
    lab.hub_in_turn(hub, old, new)
    return "point" in losers(old, new) and are_equal(old, new)


@rule("a first reading in pages notices a row that is forgotten meanwhile")
def forgotten_between_pages(lab):
    hub, (a,) = Hub(9), lab.files(1)
    lab.write(a, "k", "v"), lab.hub(a, hub)
    first = hub.get(7, sync_model.START, 0, sync_model.START, 1).newest
    lab.write(a, "k", None), lab.hub(a, hub)
    hub.drop(hub.newest_mark(), list(hub.entries))
    return not hub.get(7, sync_model.START, 1, first, 1).knows_device_cursor


@rule("what a device has read of a hub is not pushed back")
def pushed_back(lab):
    hub, (a, b) = Hub(9), lab.files(2)
    lab.write(a, "k", "v")
    lab.hub(a, hub), lab.hub(b, hub)
    return hub.seq == 1


@rule("a hub whose clock is a day off is refused")
def hub_clock_off(lab):
    hub, (a,) = Hub(9), lab.files(1)
    for ahead in (-REPAIR, REPAIR):
        lab.write(a, "k", "v")
        try:
            lab.hub(a, hub, ahead=ahead)
            return False
        except HubClockError:
            pass
    return not hub.entries


@rule("a device reads what another could push, though the hub's clock was set back")
def hub_clock_set_back(lab):
    hub, (a, b) = Hub(9), lab.files(2)
    lab.write(a, "k", "of a", 2_000)
    lab.now += 2_000
    lab.hub(a, hub)
    lab.now -= 2_000
    lab.write(b, "k", "of b")
    lab.hub(b, hub), lab.hub(a, hub)
    return value(a, "k") == value(b, "k") == "of a" and losers(a, b) == ["of b"]


@rule("a hub whose clock was days ahead at a push syncs again when the clock is right")
def hub_clock_was_days_ahead(lab):
    hub, (a, b) = Hub(9), lab.files(2)
    lab.write(a, "k", "v")
    lab.now += 2 * REPAIR
    lab.hub(a, hub)    # a device on the hub's machine has the same clock
    lab.now -= 2 * REPAIR
    try:
        lab.hub(b, hub)
    except HubClockError:
        return False
    return value(b, "k") == "v"


@rule("a slow push is taken though others push other keys all the time")
def slow_push(lab):
    hub, (slow, fast) = Hub(9), lab.files(2)
    for name in "klm":
        lab.write(slow, name, "slow")

    def step(name):
        if name == "read":    # the upload takes longer than the pause between the other's pushes
            lab.write(fast, "j", str(lab.now))
            lab.hub(fast, hub)
    with pages_of(1):
        is_done = lab.hub(slow, hub, step)
    return is_done and value(hub, "m") == "slow" and slow.hubs[9].sent.seq == slow.seq


def come_between(lab, hub, other, *keys, boundary="read"):
    """A step at which another device pushes writes of its own, once."""
    def act():
        for name in keys:
            lab.write(other, name, "of the other")
        lab.hub(other, hub)
    return once(boundary, act)


@rule("a push does not replace a row that its device has not read")
def not_replaced_unread(lab):
    hub, a, b = with_one_key(lab)
    lab.write(a, "k", "of a")
    lab.now += 10
    lab.hub(a, hub, come_between(lab, hub, b, "k"))
    return value(a, "k") == "of the other" and losers(a) == ["of a"]


@rule("a value is not pushed whose deletion was forgotten before its device has read it")
def not_pushed_though_forgotten(lab):
    hub, a, b = with_one_key(lab)
    base = hub.newest_mark()
    lab.write(a, "k", None)
    lab.hub(a, hub)
    hub.drop(a.hubs[9].read, a.compact(lab.now + 9))
    return hub.push(base, base, list(b.entries.items()), b.id, lab) is None


@rule("the vectors of two devices that push at once both count, until a device has read them")
def vectors_of_both(lab):
    hub, (a, b, c, d) = Hub(9), lab.files(4)
    lab.write(c, "k", "of c"), lab.write(d, "j", "of d")
    lab.merge(a, c), lab.merge(b, d)
    lab.write(a, "k", "of a")
    lab.hub(a, hub, come_between(lab, hub, b, "j"))
    counts = [len(hub.pushed)]
    lab.hub(c, hub), lab.hub(d, hub)
    lab.write(d, "l", "of d")
    lab.hub(d, hub)
    counts.append(len(hub.pushed))
    return losers(a, b, c, d) == [] and value(c, "k") == "of a" and counts == [2, 1]


@rule("a twin that pushes other keys at the same time is found before its rows are taken")
def twins_push_at_once(lab):
    hub, a, _ = with_one_key(lab)
    twin = a.copy()
    lab.write(a, "j", "of a"), lab.write(twin, "l", "of the twin")

    def act():
        lab.hub(twin, hub)
    lab.hub(a, hub, once("read", act))
    return a.id != twin.id and hub.entries[Key("cloud", "j")].replica == a.id


@rule("a row that gets another ID during a sync is pushed")
def new_id_during_a_sync(lab):
    hub, (a,) = Hub(9), lab.files(1)
    a.id = 1_000    # larger than the next one
    lab.write(a, "k", "of a"), lab.write(a, "j", "of a")

    def crash():
        raise Crashed
    with pages_of(1):
        try:
            lab.hub(a, hub, once("pushed", crash))
        except Crashed:
            pass
        twin = a.copy()
        lab.hub(a, hub, once("read", lambda: lab.hub(twin, hub)))
    return a.id < 1_000 and hub.entries[Key("cloud", "k")].replica == a.id


@rule("what a hub that is set back loses is pushed again, though others have pushed in between")
def set_back_after_others(lab):
    hub, a, b = with_one_key(lab)
    backup = hub.copy()
    lab.write(a, "j", "of a"), lab.write(a, "l", "of a")
    count = itertools.count(1)

    def step(name):
        number = next(count) if name == "read" else 0
        if number == 1:
            lab.write(b, "m", "of b")
            lab.hub(b, hub)
        elif number == 2:
            vars(hub).update(vars(backup))
    with pages_of(1):
        lab.hub(a, hub, step)
    return value(hub, "j") == "of a" and value(hub, "l") == "of a"


@rule("a row that waits is read when it is due, and a hub that is set back meanwhile is found")
def set_back_while_waiting(lab):
    hub, a, b = with_one_key(lab)
    lab.write(b, "waits", "v")
    lab.hub(b, hub)
    waits = Key("cloud", "waits")
    hub.entries[waits] = hub.entries[waits]._replace(time=lab.now + 1_000)
    backup = hub.copy()
    lab.write(a, "j", "of a")
    lab.hub(a, hub)
    vars(hub).update(vars(backup))
    lab.hub(a, hub)
    is_back = value(hub, "j") == "of a" and value(a, "waits") is None
    lab.now += 2_000
    lab.hub(a, hub)
    return is_back and value(a, "waits") == "v"


@rule("what a hub has lost is pushed though the attempt that finds it is disturbed")
def set_back_and_disturbed(lab):
    hub, a, b = with_one_key(lab)
    lab.write(a, "gone", None)
    lab.hub(a, hub)
    backup = hub.copy()
    lab.write(a, "j", "of a")
    lab.hub(a, hub, come_between(lab, hub, b, "l"))
    vars(hub).update(vars(backup))
    count = itertools.count(1)

    def step(name):
        if name == "answered" and next(count) == 3:
            a.compact(lab.now + 9)
    with pages_of(1):
        lab.hub(a, hub, step)
    return value(hub, "j") == "of a"


@rule("a mark of another history is refused, as a cursor and for a push")
def foreign_mark(lab):
    hub, a, b = with_one_key(lab)
    foreign, newest = sync_model.Mark(1_000, lab.now, 7), hub.newest_mark()
    is_known = hub.get(a.id, foreign, 0, newest, 1).knows_device_cursor
    return not is_known and hub.push(foreign, newest, list(a.entries.items()), a.id, lab) is None


@rule("one key that another device writes all the time does not hold up the others")
def hot_key(lab):
    hub, (slow, fast) = Hub(9), lab.files(2)
    for name in "klmnop":
        lab.write(slow, name, "slow")

    def step(name):
        if name == "read":
            lab.write(fast, "hot", "fast")
            lab.hub(fast, hub)
            lab.write(slow, "hot", "slow")
    lab.write(slow, "hot", "slow")
    with pages_of(16):
        lab.hub(slow, hub, step)
    return value(hub, "k") == value(hub, "p") == "slow"


@rule("pages are smaller after a refusal, and grow again")
def pages_grow(lab):
    hub, (slow, fast) = Hub(9), lab.files(2)
    for number in range(64):
        lab.write(slow, "k%d" % number, "slow")
    steps, come = [], come_between(lab, hub, fast, "k0")

    def step(name):
        steps.append(name)
        come(name)
    with pages_of(16):
        lab.hub(slow, hub, step)
    return steps.count("pushed") == 7    # 16, refused; then 4, 8, 16, 16, 16, and the rest


@rule("a hub that was set back is not read again if another process of the device has done so")
def read_by_another_process(lab):
    hub, a, _ = with_one_key(lab)
    lab.write(a, "gone", None)
    lab.hub(a, hub)
    backup = hub.copy()
    lab.write(a, "j", "of a")
    lab.hub(a, hub)
    vars(hub).update(vars(backup))
    steps = []

    def act():
        a.compact(lab.now + 9)
        lab.hub(a, hub)
    other = once("answered", act)

    def step(name):
        steps.append(name)
        other(name)
    lab.hub(a, hub, step)
    return steps.count("answered") == 2 and value(hub, "j") == "of a"


@rule("mark and vectors are owed though a hub has to be read from the beginning")
def owed_after_reset(lab):
    hub, a, b = with_one_key(lab)
    c = lab.files(1)[0]
    lab.write(c, "l", "of c")
    lab.merge(a, c)
    lab.write(a, "l", "of a"), lab.write(a, "j", "of a")

    def act():
        lab.now += 10
        lab.write(b, "j", "of b"), lab.write(b, "tmp", None)
        lab.hub(b, hub)
        hub.drop(b.hubs[9].read, b.compact(lab.now + 9))
    with pages_of(1):
        lab.hub(a, hub, once("pushed", act))
    lab.hub(c, hub)
    return losers(c) == [] and value(c, "l") == "of a"


@rule("a push without rows has a number of its own")
def number_without_rows(lab):
    hub, a, b = with_one_key(lab)
    last = a.mark(lab), a.vectors(["cloud"], a.clock)
    base = hub.newest_mark()
    mark, _ = hub.push(base, base, [], a.id, lab, last)
    return mark.seq > base.seq and hub.push(base, base, [], b.id, lab, last) and (
        len(hub.pushed) == 2)


@rule("a hub that is set back after a push that others came before is found")
def set_back_after_last_page(lab):
    hub, a, b = with_one_key(lab)
    backup = hub.copy()
    lab.write(a, "j", "of a")
    lab.hub(a, hub, come_between(lab, hub, b, "l"))
    vars(hub).update(vars(backup.copy()))
    lab.hub(a, hub)
    return value(hub, "j") == "of a"


@rule("mark and vectors are sent though other devices have left nothing else to push")
def nothing_left_to_push(lab):
    hub, (a, b, c) = Hub(9), lab.files(3)
    lab.write(c, "k", "of c")
    lab.merge(a, c)
    for name in "kj":
        lab.write(a, name, "of a")

    with pages_of(1):
        lab.hub(a, hub, come_between(lab, hub, b, "j", boundary="pushed"))
    lab.hub(c, hub)
    return value(c, "k") == "of a" and losers(a, b, c) == ["of a"] and a.id in hub.devices


@rule("a row that a hub refuses waits, hides no conflict, and is pushed when the hub takes it")
def large_row(lab):
    hub, (a, b) = Hub(9, limit=5), lab.files(2)
    lab.write(a, "k", "too large")
    lab.write(a, "j", "small")
    lab.hub(a, hub), lab.hub(b, hub)
    lab.write(b, "k", "of b")
    lab.hub(b, hub), lab.merge(a, b)
    has_waited = losers(a, b) == ["too large"]
    lab.write(a, "l", "too large")
    lab.hub(a, hub)
    hub.limit = 100
    lab.hub(a, hub), lab.hub(b, hub)
    return has_waited and value(b, "l") == "too large"


@rule("what a row that waits for a hub's limit conceals is no conflict of rows that were pushed")
def large_row_beside_others(lab):
    hub, (a, b) = Hub(9, limit=5), lab.files(2)
    lab.write(a, "k", "too large")
    lab.write(a, "j", "small")
    lab.hub(a, hub), lab.hub(b, hub)
    lab.write(b, "j", "new")
    lab.hub(b, hub), lab.hub(a, hub)
    return value(a, "j") == "new" and losers(a, b) == []


@rule("a tombstone that is dropped between two pages is not skipped")
def dropped_between_pages(lab):
    hub, (a, b) = Hub(9), lab.files(2)
    for name in "klm":
        lab.write(a, name, "old")
    lab.hub(a, hub), lab.hub(b, hub)
    for name in "lm":
        lab.write(a, name, "new")
    lab.write(a, "k", None)
    lab.hub(a, hub)
    with pages_of(1):
        lab.hub(b, hub, once("page", lambda: hub.drop(a.hubs[9].read, a.compact(lab.now + 9))))
    lab.hub_in_turn(hub, a, b, a)
    return are_equal(a, b)


@rule("a tombstone that the device drops between two pages of a push is not skipped")
def dropped_between_pushes(lab):
    hub, a, b = with_one_key(lab)
    lab.write(a, "j", "value")
    lab.write(a, "k", None)
    with pages_of(1):
        lab.hub(a, hub, once("pushed", lambda: a.compact(lab.now + 9)))
    lab.hub_in_turn(hub, a, b, a)
    return are_equal(a, b)


@rule("a tombstone that is dropped while it is held back is not skipped")
def dropped_while_held_back(lab):
    hub, a, b = with_one_key(lab)
    lab.write(a, "k", None, 400)
    lab.hub(a, hub)
    a.compact(lab.now + 500)
    lab.now += 1_000
    lab.hub_in_turn(hub, a, b, a)
    return are_equal(a, b)


@rule("a row that is held back beside a dropped tombstone does not let the hub be read in full")
def held_back_beside_dropped(lab):
    hub, (a,) = Hub(9, limit=5), lab.files(1)
    for name, text in ("k", "too large"), ("l", "small"), ("m", "small"):
        lab.write(a, name, text)
    lab.hub(a, hub)
    lab.write(a, "m", None)
    lab.hub(a, hub)
    a.compact(lab.now + 9)
    return [lab.reads(lab.hub, a, hub) for _ in range(2)] == [0, 0]


@rule("a value that is deleted and forgotten while another row waits does not stay on one device")
def forgotten_while_waiting(lab):
    hub, (a, b) = Hub(9), lab.files(2)
    lab.write(a, "k", "old"), lab.write(a, "waits", "v")
    lab.hub(a, hub)
    waits = Key("cloud", "waits")    # as a row does that a device's version cannot read
    hub.entries[waits] = hub.entries[waits]._replace(time=lab.now + 1_000)
    lab.hub(b, hub)
    lab.write(a, "k", None)
    lab.hub(a, hub)
    hub.drop(a.hubs[9].read, a.compact(lab.now + 9))
    lab.now += 2_000
    lab.hub_in_turn(hub, b, a, b)
    return value(a, "k") == value(b, "k")


@rule("a hub that is set back between two pages is read anew")
def set_back_between_pages(lab):
    hub, (a, b, c) = Hub(9), lab.files(3)
    lab.write(a, "k", "1")
    lab.hub(a, hub)
    backup = hub.copy()
    for name in "lmn":
        lab.write(a, name, "of a")
    lab.hub(a, hub)
    is_back = []

    def step(name):
        if name == "page" and len(is_back) < 3:
            is_back.append(name)
            if len(is_back) == 3:
                vars(hub).update(vars(backup))
                for name in "wxyz":
                    lab.write(c, name, "of c")
                with pages_of(100):
                    lab.hub(c, hub)
    with pages_of(1):
        lab.hub(b, hub, step)
    lab.hub(b, hub), lab.hub(b, hub)
    return value(b, "w") == "of c" and value(hub, "l") == "of a"


@rule("what a hub that is set back between two pages of a push has lost is pushed again")
def set_back_between_pushes(lab):
    hub, (a,) = Hub(9), lab.files(1)
    lab.write(a, "j", "1")
    lab.hub(a, hub)
    lab.write(a, "k", "1"), lab.write(a, "l", "1")
    backup = hub.copy()
    with pages_of(1):
        lab.hub(a, hub, once("pushed", lambda: vars(hub).update(vars(backup))))
    return value(hub, "k") == "1" and value(hub, "l") == "1"


@rule("a device that joins another account takes its values along only if the user says so")
def joining(lab):
    one, two, (a, b) = Hub(8), Hub(9), lab.files(2)
    lab.write(a, "k", "of account one")
    lab.hub(a, one)
    lab.write(b, "j", "of account two")
    lab.hub(b, two)
    kept = a.copy()
    hub_model.join(a, False, lab)
    lab.hub(a, two)
    is_empty = value(two, "k") is None and value(a, "j") == "of account two" and a.id != kept.id
    hub_model.join(kept, True, lab)
    lab.hub(kept, two)
    return is_empty and value(two, "k") == "of account one" and value(one, "j") is None


@rule("what a device has read of a hub before a push of its own failed is known to the hub")
def read_before_a_failed_push(lab):
    hub, (x, d, z) = Hub(9), lab.files(3)
    lab.write(x, "k", "read")
    lab.hub(x, hub), lab.hub(z, hub)
    lab.write(d, "own", "of d")

    def crash():
        raise Crashed

    def crashing(device, boundary):
        try:
            lab.hub(device, hub, once(boundary, crash))
        except Crashed:
            pass
    crashing(d, "read")
    lab.write(z, "k", "knowing"), lab.write(z, "b", "more")
    with pages_of(1):
        crashing(z, "pushed")    # k is on the hub, the vectors that cover what it replaces are not
    lab.hub(d, hub)
    return value(d, "k") == "knowing" and losers(d) == []


@rule("the vectors of a hub are read once")
def vectors_once(lab):
    hub, a, b = with_one_key(lab)
    vectors, get = [], Hub.get
    lab.write(a, "k", "new")
    lab.hub(a, hub)

    def watched(*arguments):
        vectors.append(arguments[6:] == (True,))
        return get(*arguments)
    Hub.get = watched
    try:
        lab.hub(b, hub)
    finally:
        Hub.get = get
    return vectors == [False]


@rule("a write that a waiting row of a hub wins over is logged when that is due")
def older_than_waiting(lab):
    hub, (ahead, b) = Hub(9), lab.files(2)
    lab.write(ahead, "k", "waits", 480)
    lab.now += 400

    def back():
        hub.clock -= 400
    lab.hub(ahead, hub, once("read", back))    # so the hub's clock is before the row it takes
    lab.now -= 400
    lab.hub(b, hub)
    lab.write(b, "k", "of b")
    lab.hub(b, hub)
    lab.now += 1_000
    lab.hub(b, hub), lab.hub(ahead, hub)
    return value(b, "k") == value(ahead, "k") == "waits" and "of b" in losers(ahead, b)


@rule("a repair during a push cuts the time of the mark that was sent")
def repaired_during_a_push(lab):
    hub, (a,) = Hub(9), lab.files(1)
    lab.write(a, "j", "soon")
    lab.write(a, "k", "late", 2 * REPAIR)
    lab.hub(a, hub, once("pushed", lambda: a.repair_clock(lab.now, lab)))
    return value(hub, "j") == "soon" and a.hubs[9].sent.time <= a.clock < lab.now + REPAIR


@rule("a device that has forgotten tombstones reads a hub in full once in a sync")
def read_in_full_once(lab):
    hub, a, b = with_one_key(lab)
    for name in "jlm":
        lab.write(b, name, "of b")
    lab.hub(b, hub)
    lab.write(a, "gone", None), lab.write(a, "k", "of a")
    a.compact(lab.now + 9)
    steps, come = [], come_between(lab, hub, b, "k")

    def step(name):
        steps.append(name)
        come(name)
    with pages_of(1):
        lab.hub(a, hub, step)
    return steps.count("page") == 3 and value(hub, "k") is not None


@rule("a device that forgets tombstones during a sync reads the hub in full again")
def read_in_full_again(lab):
    hub, a, b = with_one_key(lab)
    lab.write(a, "j", "of a")
    lab.hub(a, hub), lab.hub(b, hub)
    lab.write(a, "gone", None), lab.write(a, "m", "of a")
    a.compact(lab.now + 9)

    def act():
        lab.write(a, "k", None), lab.write(a, "l", None)
        a.compact(lab.now + 9)
    lab.hub(a, hub, once("read", act))
    lab.hub_in_turn(hub, b, a, b)
    return are_equal(a, b)

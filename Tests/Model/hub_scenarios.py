# SPDX-License-Identifier: Apache-2.0
"""Small histories with hubs, as in `scenarios.py`."""
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


@rule("a slow push beside others gets its turn")
def slow_push(lab):
    hub, (slow, fast) = Hub(9), lab.files(2)
    lab.write(slow, "k", "slow")

    def step(name):
        if name == "read":    # the upload takes longer than the pause between the other's pushes
            lab.write(fast, "j", str(lab.now))
            lab.hub(fast, hub)
    is_done = lab.hub(slow, hub, step)
    return is_done and lab.hub(fast, hub) and value(hub, "j") is not None


@rule("a device that vanishes does not keep the account to itself")
def reserved_and_gone(lab):
    hub, (slow, fast) = Hub(9), lab.files(2)
    lab.write(slow, "k", "slow")

    def step(name):
        if name == "read":
            lab.write(fast, "j", str(lab.now))
            lab.hub(fast, hub)
        if name == "pushed" and hub.reserved[0] == slow.id:
            raise Crashed
    try:
        lab.hub(slow, hub, step)
    except Crashed:
        pass
    lab.now += hub_model.RESERVED
    lab.write(fast, "j", "at last")
    return lab.hub(fast, hub) and value(hub, "j") == "at last"


@rule("a device that was refused pushes smaller pages, and larger ones when they are taken")
def smaller_pages(lab):
    hub, (slow, fast) = Hub(9), lab.files(2)
    sizes, push = [], hub.push
    for name in "klmnopqrstuvwxyz":
        lab.write(slow, name, "slow")

    def step(name):
        if name == "read" and len(sizes) < 2:
            lab.write(fast, "j", str(lab.now))
            lab.hub(fast, hub)

    def watched_push(base, rows, replica, *others):
        sizes.extend([len(rows)] if replica == slow.id else [])
        return push(base, rows, replica, *others)
    hub.push = watched_push
    with pages_of(16):
        lab.hub(slow, hub, step)
    return sizes == [16, 2, 1, 2, 4, 8, 1]


@rule("mark and vectors are sent though other devices have left nothing else to push")
def nothing_left_to_push(lab):
    hub, (a, b, c) = Hub(9), lab.files(3)
    lab.write(c, "k", "of c")
    lab.merge(a, c)
    for name in "kj":
        lab.write(a, name, "of a")

    def come_between():
        lab.write(b, "j", "of b")
        lab.hub(b, hub)
    with pages_of(1):
        lab.hub(a, hub, once("pushed", come_between))
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

# SPDX-License-Identifier: Apache-2.0
"""Messages, rows and the rules of a hub."""

import json
import time

from claims import claim
from wire import decoded, message, number, require, stamp


@claim("a look tells the hub, its time, its stores and what it remembers of the device")
def look(hub):
    head = hub.create().look(["cloud"])
    for name in ("hub", "former", "time", "seq", "forgotten", "hasMet", "stores", "revocations",
                 "waiting", "revoked", "rows"):
        require(name in head, "no", name)
    require(len(head["hub"]) == 16 and int(head["hub"], 16) > 0, "hub is", head["hub"])
    require((head["seq"], head["hasMet"], head["waiting"]) == (0, False, 0), head)
    require(head["stores"] == [{"store": "cloud", "last": 0, "peer": {"cursor": 0, "acked": 0}}],
            head["stores"])


VALUES = [
    {"type": "string", "value": ""},
    {"type": "string", "value": "a\u0000\n\"\\é\U0001f600"},
    {"type": "integer", "value": 1 << 53},
    {"type": "integer", "value": "9223372036854775807"},
    {"type": "integer", "value": "-9223372036854775808"},
    {"type": "real", "value": 0.1},
    {"type": "real", "value": 1.0},
    {"type": "real", "value": "nan"},
    {"type": "real", "value": "inf"},
    {"type": "real", "value": "-inf"},
    {"type": "boolean", "value": True},
    {"type": "data", "value": "AP8="},
    {"type": "data", "value": ""},
    {"type": "array", "value": [1, "a", {"$data": "AA=="}]},
    {"type": "dictionary", "value": {"a": 9007199254740993, "b": []}},
    {"type": 99, "value": {"text": "of a later version"}},
    {"type": 99, "value": {"integer": "9223372036854775807"}},
    {"type": 99, "value": {"real": 0.5}},
    {"type": 99, "value": {"blob": "AQ=="}},
    {"type": 99, "value": {}},
    {"type": -1, "value": {"text": ""}},
    {"deleted": True},
]


@claim("every kind of value comes back as it was pushed")
def values(hub):
    first = hub.create()
    rows = [first.row(f"k{place}", **value) for place, value in enumerate(VALUES)]
    rows.append(first.row(
        "date", type="date", value="2023-07-28T20:41:18.123Z", seconds=712349678.1234567))
    require(first.push(rows)["changed"] == len(rows), first.head["pushed"])
    found = decoded(first.join().read())
    require(len(found) == len(rows), len(found), "of", len(rows))
    for pushed, read in zip(rows, found):
        read.pop("seq")
        if pushed["type" if "type" in pushed else "deleted"] == "date":
            require(read.pop("value") and pushed.pop("value"), "a date without text")
        require(json.dumps(read) == json.dumps(pushed), json.dumps(read), "is not",
                json.dumps(pushed))


@claim("rows get sequence numbers in the order in which they came")
def sequence(hub):
    first = hub.create()
    first.push([first.row("b"), first.row("a")])
    pushed = first.push([first.row("c"), first.row("b", "again", at=stamp(first.now + 1))])
    require((pushed["before"], pushed["after"], pushed["changed"]) == (2, 4, 2), pushed)
    found = [(row["key"], row["seq"]) for row in decoded(first.join().read())]
    require(found == [("a", 2), ("c", 3), ("b", 4)], found)


@claim("a device that has not read every row is refused as behind, and writes nothing")
def behind(hub):
    first = hub.create()
    second = first.join()
    second.look(["cloud"])
    first.push([first.row("theme", "dark")])
    second.head = None
    second.refused(second.try_push([second.row("other")]), "behind")
    require(second.look(["cloud"])["seq"] == 1, "the row came in")
    require(len(second.read()) == 1, "the row of the other device was not read")
    require(second.push([second.row("other")])["changed"] == 1, second.head["pushed"])


@claim("unread rows of other stores do not refuse a push")
def behind_of_its_stores(hub):
    first = hub.create()
    second = first.join()
    first.push([first.row("theme", store="cloud:a")], ["cloud:a"])
    require(second.push([second.row("k", store="cloud:b")], ["cloud:b"])["changed"] == 1, "refused")


@claim("a device need not read what it has itself brought about")
def own(hub):
    first = hub.create()
    first.push([first.row("a")])
    require(first.push([first.row("b")])["after"] == 2, first.head["pushed"])
    first.refused(first.try_push([first.row("c")], own=[0, 0]), "behind")


@claim("a step that writes is refused where it expects nothing, something else or another hub")
def moved(hub):
    first = hub.create()
    good = first.expectation(["cloud"])
    other = {**good, "hub": number(int(good["hub"], 16) ^ 1)}
    older = {**good, "peers": [{"cursor": 9, "acked": 0}]}
    for expected in (None, other, older):
        for step in ({"step": "rewind"}, first.offer_step(["cloud"]),
                     {"step": "acknowledge", "cursors": [0]}):
            first.refused(first.ask(["cloud"], [step], expected=expected), "moved")
        row = first.row("k")
        first.refused(
            first.ask(["cloud"], [first.push_step(["cloud"], 1)], [row], expected=expected), "moved")
    require(first.look(["cloud"])["seq"] == 0, "a row came in")


@claim("a request that comes twice is done once")
def twice(hub):
    first = hub.create()
    head = {"device": first.replica, "stores": ["cloud"], "expected": first.expectation(["cloud"])}
    body = message({**head, "steps": [first.push_step(["cloud"], 1)]}, [first.row("k")])
    first.take(first.post(body))
    first.refused(first.post(body), "moved")
    require(first.look(["cloud"])["seq"] == 1, "the second one wrote, too")


@claim("what loses is answered by the present row, under a new number")
def stale(hub):
    first = hub.create()
    first.push([first.row("k", "newer", at=stamp(first.now, 5))])
    second = first.join()
    second.read()
    pushed = second.push([second.row("k", "older", at=stamp(first.now - 60_000))])
    require((pushed["changed"], pushed["answered"], pushed["after"]) == (0, 1, 2), pushed)
    found = decoded(second.read())
    require([(row["value"], row["seq"]) for row in found] == [("newer", 2)], found)


@claim("of equal timestamps the larger origin wins")
def origins(hub):
    first = hub.create()
    at = stamp(first.now)
    first.push([first.row("k", "middle", at=at, origin=number(5))])
    require(first.push([first.row("k", "low", at=at, origin=number(4))])["changed"] == 0, "4 won")
    require(first.push([first.row("k", "high", at=at, origin=number(6))])["changed"] == 1, "6 lost")
    found = decoded(first.join().read())
    require([row["value"] for row in found] == ["high"], found)


@claim("of two rows with one timestamp and origin the one that was decided last stays")
def ties(hub):
    first = hub.create()
    at = stamp(first.now)
    first.push([first.row("k", "one", at=at)])
    require(first.push([first.row("k", "two", at=at)])["changed"] == 1, "it was not taken")
    require(decoded(first.join().read())[0]["value"] == "two", "it was not kept")


@claim("a row that is there already changes nothing")
def same(hub):
    first = hub.create()
    row = first.row("k")
    first.push([row])
    pushed = first.push([row])
    require((pushed["changed"], pushed["answered"], pushed["after"]) == (0, 0, 1), pushed)


@claim("a deletion is a row, and beats what is older")
def tombstones(hub):
    first = hub.create()
    first.push([first.row("k", at=stamp(first.now - 2000))])
    first.push([first.row("k", at=stamp(first.now - 1000), deleted=True)])
    second = first.join()
    found = decoded(second.read())
    require(found[0].get("deleted") is True and "value" not in found[0], found)
    require(second.push([second.row("k", at=stamp(first.now - 1500))])["answered"] == 1, "it is back")


@claim("a row at most five minutes ahead comes in, one beyond waits and is not read")
def future(hub):
    first = hub.create()
    pushed = first.push([
        first.row("soon", at=stamp(first.now + 290_000)),
        first.row("late", at=stamp(first.now + 3_600_000))])
    require((pushed["changed"], pushed["held"]) == (1, 1), pushed)
    require(first.head["waiting"] == 1, "waiting is", first.head["waiting"])
    found = decoded(first.join().read())
    require([row["key"] for row in found] == ["soon"], found)


@claim("a row that waits comes in when it is due, with its timestamp")
def due(hub):
    first = hub.create()
    at = stamp(first.look(["cloud"])["time"] + 302_500)
    require(first.push([first.row("k", at=at)])["held"] == 1, first.head["pushed"])
    second = first.join()
    for _ in range(20):
        time.sleep(0.5)
        if second.look(["cloud"])["waiting"] == 0:
            break
    found = decoded(second.read())
    require([(row["stamp"], row["seq"]) for row in found] == [(at, 1)], found)


@claim("a row that waits comes in once its device has read what was written meanwhile")
def due_unread(hub):
    first = hub.create()
    second = first.join()
    first.push([first.row("known", "old", at=stamp(first.look(["cloud"])["time"] - 1000))])
    second.read()
    second.push([second.row("known", "new")])
    first.read()
    due = first.look(["cloud"])["time"] + 2500
    late = stamp(due + 300_000)
    pushed = first.push([first.row("k", "late", at=late), first.row("known", "late", at=late)])
    require(pushed["held"] == 2, pushed)
    second.push([second.row("k", "now")])
    while second.look(["cloud"])["time"] <= due:
        time.sleep(0.2)
    require(second.head["waiting"] == 1, "waiting is", second.head["waiting"])
    found = {row["key"]: row["value"] for row in decoded(second.read())}
    require(found == {"k": "now", "known": "late"}, found)
    found = {row["key"]: row["value"] for row in decoded(first.read())}
    require(found["k"] == "now", found)
    # Its next offer tells that it has.
    first.read()
    require(second.look(["cloud"])["waiting"] == 0, "it still waits")
    require([row["value"] for row in decoded(second.read())] == ["late"], "it was not read")


@claim("the version vector is joined, up to five minutes ahead and below what waits")
def seen(hub):
    first = hub.create()
    origin = first.replica
    known, ahead = stamp(first.now), first.now + 3_600_000
    first.push([first.row("a", at=known), first.row("b", at=stamp(ahead))], seen=[
        {"store": "cloud", "origin": origin, "stamp": stamp(ahead)},
        {"store": "cloud", "origin": number(3), "stamp": stamp(ahead)}])
    second = first.join()
    second.read()
    page = second.head["page"]
    told = {entry["origin"]: int(entry["stamp"], 16) for entry in page["seen"]}
    require(set(told) == {origin, number(3)}, page)
    limit = (second.head["time"] + 300_000) << 16 | 0xFFFF
    require(told[number(3)] <= limit, "a stamp an hour ahead is told")
    require(int(known, 16) <= told[origin] <= limit, told)


@claim("a page has at most as many rows as were asked for, and all pages have all rows, once")
def pages(hub):
    first = hub.create()
    first.push([first.row(f"k{place}") for place in range(25)])
    second = first.join()
    found = [row["seq"] for row in decoded(second.read(rows=10))]
    require(second.pages == [10, 10, 5], second.pages)
    require(found == list(range(1, 26)), found)


@claim("a page ends after the bytes that were asked for, and has one row at least")
def page_bytes(hub):
    first = hub.create()
    first.push([first.row(f"k{place}", "v" * 100) for place in range(5)])
    second = first.join()
    require(len(second.read(size=1)) == 5, "rows are missing")
    require(second.pages == [1, 1, 1, 1, 1], second.pages)


@claim("a page has no more rows than the hub's limit, whatever was asked for")
def largest_page(hub):
    first = hub.create()
    limit = hub.once("GET", "/v1").json["limits"]["pageRows"]
    for part in range(2):
        first.push([first.row(f"k{part}-{place}") for place in range(limit * 3 // 5)])
    second = first.join()
    second.read(rows=10 * limit, size=1 << 40)
    require(second.pages[0] == limit, second.pages)


@claim("an offer ends where it was made")
def offers(hub):
    first = hub.create()
    first.push([first.row(f"k{place}") for place in range(4)])
    second = first.join()
    second.expectation(["cloud"])
    offer = second.offer_step(["cloud"], rows=2)
    second.take(second.ask(["cloud"], [offer]))
    first.push([first.row("later")])
    more = {**offer, "step": "more", "after": 2, "through": 4}
    found = second.take(second.ask(["cloud"], [more]))
    require([row["seq"] for row in decoded(found)] == [3, 4], found)
    require(second.head["page"]["more"] is False, second.head["page"])


@claim("rows of other stores, and those of the echo, are not given")
def filters(hub):
    first = hub.create()
    first.push([first.row("a", store="cloud:a")], ["cloud:a"])
    for key in ("b", "c"):
        first.push([first.row(key, store="cloud:b")], ["cloud:b"])
    second = first.join()
    found = decoded(second.read(["cloud:b"], echo=[1, 2]))
    require([row["key"] for row in found] == ["c"], found)
    last = {store["store"]: store["last"] for store in second.head["stores"]}
    require(last == {"cloud:a": 1, "cloud:b": 3}, last)


@claim("the hub remembers how far it was read, and never less")
def acknowledged(hub):
    first = hub.create()
    first.push([first.row("a"), first.row("b")])
    for cursor in (2, 1):
        first.take(first.ask(["cloud"], [{"step": "acknowledge", "cursors": [cursor]}]))
        require(first.stores["cloud"]["peer"]["acked"] == 2, first.stores)


@claim("the hub remembers the tokens of an offer and of a push")
def tokens(hub):
    first = hub.create()
    offer = first.offer_step(["cloud"]) if first.look(["cloud"]) else None
    first.take(first.ask(["cloud"], [offer]))
    second = {**offer, "token": number(int(offer["token"], 16) + (1 << 32))}
    first.take(first.ask(["cloud"], [second]))
    step = first.push_step(["cloud"], 1)
    first.take(first.ask(["cloud"], [step], [first.row("a")]))
    peer = first.stores["cloud"]["peer"]
    expected = {"cursor": 1, "acked": 0, "readToken": step["token"], "token": second["token"],
                "prior": offer["token"]}
    require(peer == expected, peer, "is not", expected)


@claim("rewind makes the hub forget how far it has read a device")
def rewind(hub):
    first = hub.create()
    first.push([first.row("a")])
    first.take(first.ask(["cloud"], [{"step": "rewind"}]))
    require(first.stores["cloud"]["peer"]["cursor"] == 0, first.stores)


@claim("rename gives the hub another identity, and makes it forget its devices")
def rename(hub):
    first = hub.create()
    first.push([first.row("a")])
    old, new = first.head["hub"], number(int(first.head["hub"], 16) ^ 1)
    first.take(first.ask(["cloud"], [{"step": "rename", "hub": new}]))
    head = first.look(["cloud"])
    require(head["hub"] == new and old in head["former"], head)
    require(head["stores"][0]["peer"] == {"cursor": 0, "acked": 0}, head["stores"])
    require(head["seq"] == 1, "rows are gone")


@claim("timestamps that were taken back count as the limit, and devices push again")
def revocations(hub):
    first = hub.create()
    origin = number(77)
    limit = stamp(first.now - 60_000)
    first.push([
        first.row("k", "late", at=stamp(first.now + 200_000), origin=origin),
        first.row("w", "waits", at=stamp(first.now + 3_600_000), origin=origin)])
    first.take(first.ask(
        [], [{"step": "revoke", "limits": [{"origin": origin, "stamp": limit}]}], expected=None))
    require(first.head["revoked"] == 1 and first.head["waiting"] == 0, first.head)
    require(first.head["revocations"] == [{"origin": origin, "stamp": limit}], first.head)
    require(first.look(["cloud"])["stores"][0]["peer"]["cursor"] == 0, first.head["stores"])
    require(first.push([first.row("k", "now")])["changed"] == 1, "the late row still wins")


@claim("a limit of revocations that is itself from the future is not believed")
def future_revocations(hub):
    first = hub.create()
    at = stamp(first.now + 3_600_000)
    first.take(first.ask(
        [], [{"step": "revoke", "limits": [{"origin": number(7), "stamp": at}]}], expected=None))
    require(first.head["revocations"] == [], first.head["revocations"])


@claim("a device that stands as the hub remembers it needs no look, and one request")
def recalled(hub):
    first = hub.create()
    first.push([first.row("a")])
    first.read()
    peer = first.stores["cloud"]["peer"]
    mine = {"cursor": 1, "acked": 1, "readToken": peer["token"], "token": peer["readToken"],
            "theirRead": peer["readToken"]}

    def meet(mine, rows, **other):
        """One request, the token to read under, and the one to be read under."""
        offer = first.offer_step(["cloud"])
        offer["memory"] = [mine]
        push = {**first.push_step(["cloud"], len(rows)), "read": [mine["cursor"]], "own": [0, 0]}
        push["token"] = number(int(push["token"], 16) + (1 << 32))
        told = {"hub": first.head["hub"], "peers": [mine], "revocations": [], **other}
        body = message(
            {"device": first.replica, "stores": ["cloud"], "recalled": told,
             "steps": ([push] if rows else []) + [offer]}, rows)
        return body, offer["token"], push["token"]

    rows = [first.row("b")]
    good = first.head
    for wrong in ({**mine, "acked": 0}, {**mine, "readToken": number(5)}, {**mine, "cursor": 9},
                  {**mine, "token": number(5), "theirRead": number(5)}):
        first.refused(first.post(meet_body(first, good, meet, wrong, rows)), "moved")
    first.head = good
    first.refused(first.post(meet(mine, rows, hub=number(5))[0]), "moved")
    first.head = good
    body, read, pushed = meet(mine, rows)
    require(first.take(first.post(body)) == [], "its own row came back")
    require(first.head["pushed"]["changed"] == 1 and first.head["seq"] == 2, first.head)
    good = first.head
    first.refused(first.post(body), "moved")
    first.head = good
    # As it went, for each request above has counted as a write of the device.
    acked = first.stores["cloud"]["peer"]["cursor"]
    mine = {"cursor": 2, "acked": acked, "readToken": read, "token": pushed, "theirRead": pushed}
    first.take(first.post(meet(mine, [])[0]))
    require("page" not in first.head, "nothing new is offered")
    require(first.stores["cloud"]["peer"]["acked"] == 2, first.stores)
    second = first.join()
    second.read()
    second.push([second.row("c")])
    found = first.take(first.post(meet(mine, [first.row("d")])[0]))
    require([row["key"] for row in decoded(found)] == ["c"], found)
    require("pushed" not in first.head and first.head["seq"] == 3, "it was not read before")


def meet_body(first, head, meet, mine, rows):
    first.head = head
    return meet(mine, rows)[0]


@claim("a device reads and pushes in one request")
def one_request(hub):
    first = hub.create()
    first.push([first.row("a")])
    second = first.join()
    second.expectation(["cloud"])
    offer = second.offer_step(["cloud"])
    push = {**second.push_step(["cloud"], 1), "read": [1]}
    found = second.take(second.ask(["cloud"], [offer, push], [second.row("b")]))
    require([row["key"] for row in decoded(found)] == ["a"], found)
    require(second.head["pushed"]["changed"] == 1, second.head)

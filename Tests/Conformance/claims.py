# SPDX-License-Identifier: Apache-2.0
"""What a hub has to do: each claim on accounts of its own."""
import base64
import http.client
import json
import os

from client import START, Device, Wrong, lines, new_token, require, row

ALL = []


def claim(function):
    ALL.append(function)
    return function


def named(only):
    """The claims that have a text, or all, by their sentences."""
    sentences = {function.__name__.replace("_", " "): function for function in ALL}
    return {text: claim for text, claim in sentences.items() if not only or only in text}


def run(hub, only=None):
    """Prints a line for each claim. Returns the number of those that do not hold."""
    failed = 0
    for text, function in named(only).items():
        try:
            function(hub)
            print("ok      " + text, flush=True)
        except (Wrong, KeyError, TypeError, ValueError, OSError, http.client.HTTPException) as error:
            failed += 1
            print("FAILED  %s: %s: %s" % (text, type(error).__name__, error), flush=True)
    return failed


@claim
def the_greeting_lists_protocol_and_limits(hub):
    answer = hub.send("GET", "/v1").has(200).json
    require(answer["protocol"] == 1 and answer["limits"]["rowBytes"] > 0, answer)
    require(hub.send("GET", "/health").body == b"ok\n", "health")
    require(hub.send("GET", "/ready").body == b"ok\n", "ready")


@claim
def rows_come_back_as_they_were_pushed(hub):
    a, texts = hub.create(), ['"x"', '{"b":1.50,"a":[]}', "null", '"\\u00e9\\ud83d\\ude00"', "-0",
                             '"\\ud800"', "1e999999", "[" * 129 + "]" * 129]
    keys = ["k", "é", "\0", 'with "quotes" \\', "k\n", "half", "endless", "deep"]
    body = b'{"rows":8}\n' + b"".join(
        b'{"key":%s,"row":%s}\n' % (json.dumps(key).encode(), text.encode())
        for key, text in zip(keys, texts))
    a.push(START, body).has(200)
    answer = a.read().has(200)
    found = answer.body.decode().split("\n")[1:-1]
    for number, (key, text, line) in enumerate(zip(keys, texts, found), 1):
        require(json.loads(line)["key"] == key and json.loads(line)["seq"] == number, line)
        require(line.endswith('"row":%s}' % text), line, text)


@claim
def rows_are_opaque(hub):
    a, rows = hub.create(), []
    for _ in range(200):
        noise = base64.b64encode(os.urandom(100)).decode()
        rows.append(row(base64.b64encode(os.urandom(20)).decode(), noise))
    vectors = base64.b64encode(os.urandom(500)).decode()
    a.push(START, rows, mark=base64.b64encode(os.urandom(60)).decode(), vectors=vectors).has(200)
    head, found = a.read().page
    require([(r["key"], r["row"]) for r in found] == [(r["key"], r["row"]) for r in rows], "rows")
    require(head["vectors"] == [vectors], "vectors")
    deep = json.loads("[" * 129 + "]" * 129)
    a.push(head["newest"], [], "m", deep).has(200)
    require(a.read().has(200).page[0]["vectors"] == [deep], "deep vectors")


@claim
def nothing_new_is_304(hub):
    a = hub.create()
    require(a.read(unless=START).has(304).body == b"", "a body")
    newest = a.push(START, [row("k")], "m").has(200).json["newest"]
    answer = a.read(cursor=newest, unless=newest).has(304)
    require(answer.headers["ETag"] == '"%s"' % newest and answer.clock > 0, "headers")
    require(a.read(cursor=newest).has(200).page[1] == [], "rows after the newest mark")


@claim
def a_push_of_a_key_that_others_have_written_is_412_with_what_is_new(hub):
    a = hub.create()
    b = a.join()
    first = a.push(START, [row("k", 1)], "m1", {"v": 1}).has(200).json["newest"]
    answer = b.push(START, [row("k", 2)], "n1")
    head, rows = answer.has(412).page
    require(head["newest"] == first and [r["row"] for r in rows] == [1], answer.body)
    require(head["vectors"] == [{"v": 1}] and "mark" not in head, head)
    second = b.push(first, [row("k", 2)], "n1").has(200).json["newest"]
    head, rows = a.push(first, [row("k")], "m2", cursor=first).has(412).page
    require(head["mark"] == "m1" and head["cursor"] == "known", head)
    require([(r["key"], r["row"], r["seq"]) for r in rows] == [("k", 2, 2)], rows)
    a.push(second, [row("j")], "m2").has(200)
    a.ask("POST", "/rows?replica=a", lines({}, [row("k")]), type="application/jsonl").is_problem(
        428, "condition")


@claim
def pages_chain(hub):
    a, newest = hub.create(), START
    for page in range(3):
        rows = [row("k%d" % (page * 10 + n)) for n in range(10)]
        last = {"mark": "m", "vectors": {"a": 1}} if page == 2 else {}
        newest = a.push(newest, rows, **last).has(200).json["newest"]
    head, rows = a.read(rows=25).has(200).page
    require(not head["isLast"] and len(rows) == 25, head)
    more, rest = a.read(after=rows[-1]["seq"], newest=head["newest"], rows=25).page
    require(more["isLast"] and len(rest) == 5 and more["cursor"] == "known", more)
    require({r["key"] for r in rows + rest} == {"k%d" % n for n in range(30)}, "keys")


@claim
def a_cursor_that_the_hub_does_not_know_is_reported(hub):
    a = hub.create()
    newest = a.push(START, [row("k")], "m").has(200).json["newest"]
    foreign = "5-00000000000000aa"
    require(a.read(cursor=foreign).page[0]["cursor"] == "unknown", "the cursor")
    require(a.read(newest=foreign).page[0]["cursor"] == "unknown", "the newest mark")
    require(a.read(cursor=newest, newest=newest).page[0]["cursor"] == "known", "its own")
    for wrong in ("5", "x-1", "1-zz", ""):
        a.read(cursor=wrong).is_problem(400, "malformed")


@claim
def deleted_rows_are_forgotten_by_a_device_that_has_read_everything(hub):
    a = hub.create()
    old = a.push(START, [row("k"), row("d", deleted=True)], "m").has(200).json["newest"]
    newest = a.push(old, [row("d", None, deleted=True), row("e")], "m").has(200).json["newest"]
    require(a.forget(old, ["d"]).has(412).page[0]["newest"] == newest, "a stale mark")
    a.forget(newest, ["d", "k", "other"]).has(204)
    require([r["key"] for r in a.read().page[1]] == ["k", "e"], "only the deleted row goes")
    require(a.read(cursor=old).page[0]["cursor"] == "unknown", "a cursor below the row")
    require(a.read(cursor=newest).page[0]["cursor"] == "known", "a cursor above the row")


@claim
def a_push_of_other_keys_than_those_of_others_is_taken(hub):
    a = hub.create()
    b = a.join()
    first = a.push(START, [row("k")], "m", {"a": 1}).has(200).json
    second = b.push(START, [row("j")], "n", {"b": 1}).has(200).json
    require(first["isNext"] and not second["isNext"], first, second)
    head, rows = a.read().page
    require(head["vectors"] == [{"a": 1}, {"b": 1}], "the vectors of both", head)
    require([(r["key"], r["seq"]) for r in rows] == [("k", 1), ("j", 2)], rows)
    require(a.read(cursor=first["newest"]).page[0]["vectors"] == [{"b": 1}], "vectors since a cursor")
    head = a.read(cursor=second["newest"], all_vectors=True).page[0]
    require(head["vectors"] == [{"a": 1}, {"b": 1}], "all vectors", head)
    third = a.push(second["newest"], [], "m", {"a": 1, "b": 1}).has(200).json["newest"]
    require(a.read().page[0]["vectors"] == [{"a": 1, "b": 1}], "vectors that were read are kept")
    b.push(first["newest"], [row("j"), row("k")], "n").has(412)
    foreign = "2-00000000000000aa"
    b.push(foreign, [row("l")], "n").has(412)
    b.push(third, [row("l")], "n", newest=foreign).has(412)
    a.push(third, [row("k", None, deleted=True)], "m").has(200)
    a.forget(a.read().page[0]["newest"], ["k"]).has(204)
    b.push(third, [row("l")], "n").has(412)


@claim
def joining_again_with_the_same_token_is_200(hub):
    a = hub.create()
    code, token = a.ask("POST", "/invitations").has(201).json["code"], new_token()
    body = {"code": code, "name": "second", "token": token}
    require(hub.send("POST", a.path("/devices"), body).has(201).json["device"] == 2, "the number")
    require(hub.send("POST", a.path("/devices"), body).has(200).json["device"] == 2, "again")
    other = {**body, "token": new_token()}
    hub.send("POST", a.path("/devices"), other).is_problem(403, "code")
    hub.send("POST", a.path("/devices"), {**other, "token": "x"}).is_problem(400, "malformed")
    create = {"name": "first", "token": a.token}
    require(hub.send("PUT", a.path(""), create, token=hub.secret).has(200), "the account again")
    hub.send("PUT", a.path(""), {**create, "token": new_token()}, token=hub.secret).is_problem(
        409, "taken")
    hub.send("PUT", a.path(""), create, token=a.token).is_problem(401, "token")


@claim
def devices_are_listed_renamed_and_revoked(hub):
    a = hub.create()
    b, stranger = a.join(), hub.create()
    a.ask("PATCH", "/devices/2", {"name": "new"}).has(204)
    devices = b.ask("GET", "/devices").has(200).json["devices"]
    require([(d["device"], d["name"]) for d in devices] == [(1, "first"), (2, "new")], devices)
    require([d.get("self") for d in devices] == [None, True], devices)
    code = b.ask("POST", "/invitations").json["code"]
    a.ask("DELETE", "/devices/2").has(204)
    b.ask("GET", "/devices").is_problem(401, "token")
    b.read().is_problem(401, "token")
    body = {"code": code, "name": "x", "token": new_token()}
    hub.send("POST", a.path("/devices"), body).is_problem(403, "code")
    require(len(a.ask("GET", "/devices").json["devices"]) == 1, "the list")
    a.ask("DELETE", "/devices/9").is_problem(404, "path")
    for name in ("", "a\n", "x" * 1_000):
        require(a.ask("PATCH", "/devices/1", {"name": name}).status in (400, 413), name)
    Device(hub, a.account, stranger.token, 1).ask("GET", "/devices").is_problem(401, "token")


@claim
def a_deleted_account_is_gone(hub):
    a = hub.create()
    a.push(START, [row("k")], "m").has(200)
    a.ask("DELETE", "").has(204)
    a.read().is_problem(401, "token")


@claim
def an_export_has_every_row_and_restores_an_account(hub):
    a, newest = hub.create(), START
    for page in range(3):
        rows = [row("k%d" % (page * 500 + n), {"n": n}) for n in range(500)]
        newest = a.push(newest, rows, "m").has(200).json["newest"]
    rows = export(a)
    require(len({r["key"] for r in rows}) == 1_500, "rows")
    b, newest = hub.create(), START
    for start in range(0, 1_500, 500):
        newest = b.push(newest, rows[start:start + 500], "m").has(200).json["newest"]
    require(export(b) == rows, "the restored account")


def export(device):
    """All rows, page by page; a request without a replica ID is one of no device."""
    rows, after, is_last = [], 0, False
    while not is_last:
        head, page = device.ask("GET", "/rows?after=%d" % after).has(200).page
        rows, is_last = rows + page, head["isLast"]
        after = rows[-1]["seq"] if rows else 0
    return rows


@claim
def events_announce_each_newest_mark(hub):
    a = hub.create()
    b = a.join()
    connection = hub.connection()
    connection.request("GET", hub.prefix + b.path("/events"),
                       headers={"Authorization": "Bearer " + b.token})
    response = connection.getresponse()
    require(response.headers["Content-Type"].startswith("text/event-stream"), "the type")
    require(response.readline() == b"id: %s\n" % START.encode(), "the first event")
    require(json.loads(response.readline()[5:])["newest"] == START, "its data")
    newest = a.push(START, [row("k")], "m").has(200).json["newest"]
    event = [response.readline() for _ in range(3)]
    require(event[1] == b"id: %s\n" % newest.encode(), event)
    connection.close()
    poll = b.ask("GET", "/events?after=%s&wait=0" % newest).has(200).json
    require(poll["newest"] == newest, poll)
    require(b.ask("GET", "/events?after=%s&wait=55" % START).json["newest"] == newest, "a poll")


@claim
def one_stream_too_many_is_refused(hub):
    a, open_ones = hub.create(), []
    most = hub.send("GET", "/v1").json["limits"]["streams"]
    for _ in range(most):
        connection = hub.connection()
        connection.request("GET", hub.prefix + a.path("/events"),
                           headers={"Authorization": "Bearer " + a.token})
        response = connection.getresponse()
        require(response.readline(), "an event")
        open_ones.append(response)
    hub.once("GET", a.path("/events"), token=a.token).is_problem(429, "too-many", "streams")
    for response in open_ones:
        response.close()


@claim
def what_is_malformed_is_400_and_changes_nothing(hub):
    a, good = hub.create(), b'{"rows":1}\n{"key":"k","row":1}\n'
    for body in (b"", b"\n", good[:-1], good + b"\n", good[11:], b'{"rows":2}' + good[10:],
                 good.replace(b"k", b"\xff"), good.replace(b'"k"', b"1"), good.replace(b'"k"', b'""'),
                 good.replace(b"1}\n", b"01}\n"), good.replace(b":1}\n{", b":1,\"mark\":\"m\"}\n{"),
                 b'{"rows":2}\n' + 2 * good[11:], b'{"rows":0}\n', b"[]\n",
                 good.replace(b'"row":1', b'"row":' + b"[" * 100_000)):
        a.push(START, body).is_problem(400, "malformed")
    a.ask("POST", "/rows?replica=a", good, headers={"If-Match": START}).is_problem(400, "malformed")
    a.ask("POST", "/rows", good, type="application/jsonl",
          headers={"If-Match": START}).is_problem(400, "malformed")
    a.ask("GET", "/nothing").is_problem(404, "path")
    hub.send("GET", "/v1/accounts/1/rows", token=a.token).is_problem(404, "path")
    require(a.read().page[0]["newest"] == START, "nothing was pushed")


@claim
def each_limit_of_a_push_holds_at_its_edge(hub):
    a, limits = hub.create(), hub.send("GET", "/v1").json["limits"]
    fits = [row("k" * limits["keyBytes"], "r" * (limits["rowBytes"] - 2))]
    large = {"mark": "m" * limits["markBytes"], "vectors": "v" * (limits["vectorBytes"] - 2)}
    newest = a.push(START, fits, **large).has(200).json["newest"]
    require(len(a.read().page[1]) == 1, "a row that is larger than a page")
    for name, body in (
            ("keyBytes", lines({}, [row("k" * (limits["keyBytes"] + 1))])),
            ("rowBytes", lines({}, [row("k", "r" * (limits["rowBytes"] - 1))])),
            ("markBytes", lines({"mark": large["mark"] + "m", "vectors": 1}, [row("k")])),
            ("vectorBytes", lines({"mark": "m", "vectors": large["vectors"] + "v"}, [row("k")])),
            ("pageRows", lines({}, [row("%d" % n) for n in range(limits["pageRows"] + 1)]))):
        a.push(newest, body).is_problem(413, "too-large", name)
    a.push(newest, [row("%d" % n) for n in range(limits["pageRows"])], "m").has(200)
    a.replica = "r" * (limits["replicaBytes"] + 1)
    a.read().is_problem(413, "too-large", "replicaBytes")

# SPDX-License-Identifier: Apache-2.0
"""Accounts, tokens, events, limits, and what is no request."""

import json
import re
import time

from claims import Skipped, claim
from wire import decoded, message, number, require, stamp

SECRET = re.compile(r"^[A-Za-z0-9_-]{43}$")


@claim("GET /v1 tells protocol, version, time and limits, to anybody")
def greeting(hub):
    told = hub.send("GET", "/v1").has(200, "application/json").json
    require(told["protocol"] == 1 and isinstance(told["version"], str), told)
    require(1_600_000_000_000 < told["time"] < 1 << 47, told["time"])
    names = {"keyBytes", "valueBytes", "rows", "bytes", "devices", "stores", "origins",
             "revocations", "pageRows", "pageBytes", "requestsPerMinute", "streams"}
    require(names <= set(told["limits"]), "no", names - set(told["limits"]))
    require(all(isinstance(told["limits"][name], int) for name in names), told["limits"])


@claim("GET /health and GET /ready say ok")
def health(hub):
    for path in ("/health", "/ready"):
        require(hub.send("GET", path).has(200).body.strip() == b"ok", path)


@claim("another path is the error path, and metrics are not on this port")
def paths(hub):
    for path in ("/", "/v2", "/v1/nothing", "/metrics", "/v1/../metrics", "/v1/devices/1/nothing"):
        hub.send("GET", path).is_error(404, "path")
    require(hub.send("PATCH", "/v1/devices").status in (404, 405), "PATCH is served")


REQUESTS = [
    ("POST", "/v1/sync"), ("GET", "/v1/events"), ("POST", "/v1/invitations"), ("GET", "/v1/devices"),
    ("DELETE", "/v1/devices/1"), ("POST", "/v1/devices/1/retire"), ("GET", "/v1/export"),
    ("DELETE", "/v1/account?confirm=1"), ("POST", "/v1/accounts")]


@claim("no request without a token, with an unknown one or with half a header is served")
def tokens(hub):
    for method, path in REQUESTS:
        body = b"{}" if method == "POST" else None
        hub.send(method, path, body).is_error(401, "token")
        hub.send(method, path, body, token="A" * 43).is_error(401, "token")
    for header in ("Bearer", "Bearer ", "Basic QTpC", "A" * 43):
        hub.send("GET", "/v1/devices", headers={"Authorization": header}).is_error(401, "token")


@claim("only the operator's secret makes accounts, and it does nothing else")
def secret(hub):
    first = hub.create()
    require(SECRET.match(first.token), "a token is no 43 characters of base64url")
    hub.send("POST", "/v1/accounts", {"name": "x"}, token=first.token).is_error(401, "token")
    hub.send("GET", "/v1/devices", token=hub.secret).is_error(401, "token")
    other = hub.create()
    require(other.account != first.account and other.token != first.token, "two accounts are one")


@claim("the body of an account or a device that is none is malformed")
def names(hub):
    for body in (b"", b"{", b"[]", {"name": 1}, b"\xff"):
        answer = hub.send("POST", "/v1/accounts", body, token=hub.secret)
        answer.is_error(400, "malformed")
    for body in (b"", b"{", {"name": "x"}, {"code": 1, "name": "x"}):
        hub.send("POST", "/v1/devices", body).is_error(400, "malformed")


@claim("an invitation lets in one device, once")
def invitations(hub):
    first = hub.create("phone")
    made = hub.send("POST", "/v1/invitations", token=first.token).has(201, "application/json").json
    require(SECRET.match(made["code"]), "a code is no 43 characters of base64url")
    minutes = (made["end"] - first.now) / 60_000
    require(9 < minutes < 11, "it ends after", minutes, "minutes")
    body = {"code": made["code"], "name": "laptop"}
    joined = hub.send("POST", "/v1/devices", body).has(201, "application/json").json
    require(joined["account"] == first.account and joined["device"] != first.number, joined)
    require(SECRET.match(joined["token"]) and joined["token"] != first.token, "no token of its own")
    hub.send("POST", "/v1/devices", body).is_error(403, "invitation")
    hub.send("POST", "/v1/devices", {"code": "A" * 43, "name": "x"}).is_error(403, "invitation")


@claim("devices are listed, without their tokens")
def devices(hub):
    first = hub.create("phone")
    second = first.join("laptop")
    second.look(["cloud"])
    answer = hub.send("GET", "/v1/devices", token=second.token).has(200, "application/json")
    require(answer.json["account"] == first.account, answer.json)
    phone, laptop = answer.json["devices"]
    require((phone["name"], phone["device"]) == ("phone", first.number), phone)
    require((laptop["name"], laptop["device"]) == ("laptop", second.number), laptop)
    require(laptop.get("self") is True and "self" not in phone, answer.json)
    require(laptop["replica"] == second.replica and "replica" not in phone, answer.json)
    require(all(abs(each["created"] - second.now) < 600_000 for each in (phone, laptop)),
            answer.json)
    require(second.token.encode() not in answer.body, "a token is told")


@claim("a revoked device is refused at once, its events end, and it is told who did it")
def revoke(hub):
    first = hub.create("phone")
    second = first.join("laptop")
    connection, stream = hub.stream("/v1/events", second.token)
    require(stream.status == 200 and read_event(stream) is not None, "no first event")
    hub.send("DELETE", f"/v1/devices/{second.number}", token=first.token).has(204)
    second.post(message({"device": second.replica, "stores": ["cloud"], "steps": []})).is_error(
        403, "revoked")
    error = hub.send("GET", "/v1/devices", token=second.token).is_error(403, "revoked")
    require(error.get("by") == first.number and abs(error["date"] - first.now) < 600_000,
            "it does not say who and when:", error)
    while stream.readline():
        pass
    connection.close()
    listed = hub.send("GET", "/v1/devices", token=first.token).json["devices"][1]
    require(listed["revoked"]["by"] == first.number and listed["revoked"]["date"] > 0, listed)


@claim("a device of another account can be neither revoked nor retired")
def others(hub):
    first, other = hub.create(), hub.create()
    hub.send("DELETE", f"/v1/devices/{other.number}", token=first.token) if (
        other.number == first.number) else hub.send(
        "DELETE", f"/v1/devices/{other.number}", token=first.token).is_error(404, "path")
    for path in ("999999999", "0", "x", "-1", "99999999999999999999"):
        hub.send("DELETE", f"/v1/devices/{path}", token=other.token).is_error(404, "path")
        hub.send("POST", f"/v1/devices/{path}/retire", token=other.token).is_error(404, "path")
    other.look(["cloud"])


@claim("a retired device is listed so, and goes on")
def retire(hub):
    first = hub.create()
    second = first.join()
    second.read()
    hub.send("POST", f"/v1/devices/{second.number}/retire", token=first.token).has(204)
    listed = hub.send("GET", "/v1/devices", token=first.token).json["devices"][1]
    require(listed.get("retired") is True, listed)
    require(second.push([second.row("k")])["changed"] == 1, "it cannot push")


@claim("accounts see nothing of each other")
def apart(hub):
    first, other = hub.create(), hub.create()
    first.push([first.row("k", "secret of the first")])
    require(other.look(["cloud"])["seq"] == 0, "another account's numbers are seen")
    require(other.read() == [], "rows of another account are read")
    require(other.head["hub"] != first.head["hub"], "two accounts have one identity")
    # Under the other's replica ID, too.
    other.replica, other.head = first.replica, None
    require(other.look(["cloud"])["stores"][0]["peer"] == {"cursor": 0, "acked": 0}, "as a device")
    listed = hub.send("GET", "/v1/devices", token=other.token).json["devices"]
    require(len(listed) == 1, listed)
    require(hub.send("GET", "/v1/export", token=other.token).has(200).body.strip() == b"", "export")


@claim("an export has every row, with its timestamp, origin and number")
def export(hub):
    first = hub.create()
    rows = [first.row("a", "1"), first.row("b", deleted=True), first.row("c", store="cloud:x")]
    first.push(rows[:2])
    first.push(rows[2:], ["cloud:x"])
    answer = hub.send("GET", "/v1/export", token=first.token).has(200, "application/jsonl")
    found = sorted(decoded(answer.body.decode().splitlines()), key=lambda row: row["seq"])
    expected = [{**row, "seq": place + 1} for place, row in enumerate(rows)]
    require(found == expected, found)


@claim("an account is deleted only when its number confirms it, and then with its tokens")
def delete(hub):
    first = hub.create()
    second = first.join()
    for query in ("", "?confirm=", f"?confirm={first.account + 1}", "?confirm=x"):
        hub.send("DELETE", f"/v1/account{query}", token=first.token).is_error(400, "confirm")
    hub.send("DELETE", f"/v1/account?confirm={first.account}", token=first.token).has(204)
    for device in (first, second):
        hub.send("GET", "/v1/devices", token=device.token).is_error(401, "token")


# Events

def read_event(stream, patience=40):
    """The next event of a stream as its members; None at its end."""
    event = {}
    for _ in range(patience):
        line = stream.readline()
        if not line:
            return None
        line = line.decode().rstrip("\r\n")
        if not line and event:
            return event
        if line and not line.startswith(":"):
            name, _, value = line.partition(":")
            event[name] = value.strip()
    raise ValueError("no event in many lines")


@claim("a stream tells the sequence number at once, and after each push within five seconds")
def events(hub):
    first = hub.create()
    second = first.join()
    first.push([first.row("a")])
    connection, stream = hub.stream("/v1/events", second.token)
    require(stream.status == 200, stream.status)
    require(stream.headers.get("Content-Type", "").startswith("text/event-stream"),
            stream.headers.get("Content-Type"))
    event = read_event(stream)
    require(event == {"id": "1", "data": '{"seq":1}'}, event)
    for seq in (2, 3):
        began = time.monotonic()
        first.push([first.row(f"k{seq}")])
        event = read_event(stream)
        require(event == {"id": str(seq), "data": '{"seq":%d}' % seq}, event)
        require(time.monotonic() - began < 5, "it came late: is something buffering?")
    connection.close()


@claim("a long poll answers at once when there is news, else when there is or the time is over")
def polls(hub):
    first = hub.create()
    first.push([first.row("a")])
    began = time.monotonic()
    answer = hub.send("GET", "/v1/events?after=0&wait=25", token=first.token)
    require(answer.has(200, "application/json").json == {"seq": 1}, answer.body)
    require(time.monotonic() - began < 5, "it waited")
    began = time.monotonic()
    answer = hub.send("GET", "/v1/events?after=1&wait=1", token=first.token)
    require(answer.has(200).json == {"seq": 1}, answer.body)
    require(time.monotonic() - began > 0.9, "it did not wait")
    began = time.monotonic()
    connection = hub.connection()
    connection.request("GET", hub.prefix + "/v1/events?after=1&wait=25",
                       headers={"Authorization": f"Bearer {first.token}"})
    first.push([first.row("b")])
    answer = connection.getresponse()
    require(json.loads(answer.read()) == {"seq": 2}, "another number")
    require(time.monotonic() - began < 10, "the push did not wake it")
    connection.close()


@claim("a long poll of what is no number, or too long, is malformed")
def bad_polls(hub):
    first = hub.create()
    for query in ("after=x&wait=1", "after=-1&wait=1", "after=0&wait=x", "after=0&wait=-1",
                  "after=9999999999999999999999&wait=1"):
        hub.send("GET", f"/v1/events?{query}", token=first.token).is_error(400, "malformed")


@claim("a device has only so many streams: one more ends its oldest")
def streams(hub):
    limit = hub.send("GET", "/v1").json["limits"]["streams"]
    first = hub.create()
    opened = []
    try:
        for _ in range(limit + 1):
            opened.append(hub.stream("/v1/events", first.token))
            require(opened[-1][1].status == 200, opened[-1][1].status)
            require(read_event(opened[-1][1]) is not None, "no first event")
        require(read_event(opened[0][1]) is None, "the oldest goes on")
        first.push([first.row("k")])
        for _, stream in opened[1:]:
            require(read_event(stream) is not None, "another one has ended")
    finally:
        for connection, _ in opened:
            connection.close()


# What is no request

@claim("what is no message is malformed, and writes nothing")
def malformed(hub):
    first = hub.create()
    first.look(["cloud"])
    row = first.row("k")
    head = {"device": first.replica, "stores": ["cloud"], "expected": first.expectation(["cloud"]),
            "steps": [first.push_step(["cloud"], 1)]}
    good = message(head, [row])
    bad = [
        b"", b"\n", b"garbage\n", b"{}\n", b"[]\n", b"\x00\xff\n", b"[" * 100_000 + b"\n",
        good[:-1], good[:len(good) // 2], good + b"\n", good[: good.index(b"\n") + 1],
        message({**head, "device": "7"}, [row]), message({**head, "device": "0" * 16}, [row]),
        message({**head, "stores": ["cloud", "cloud"]}, [row]), message({**head, "stores": [""]}, [row]),
        message({**head, "steps": [*head["steps"], {"step": "rewind"}, {"step": "rewind"}]}, [row]),
        message({**head, "steps": [{"step": "pull"}]}, []), message({**head, "steps": []}, [row]),
        message({**head, "steps": [{**head["steps"][0], "read": []}]}, [row]),
        message({**head, "steps": [{**head["steps"][0], "through": -1}]}, [row]),
    ]
    for body in bad:
        first.post(body).is_error(400, "malformed")
    require(first.look(["cloud"])["seq"] == 0, "something came in")


@claim("a malformed row is named by its line, and the rows beside it do not come in")
def malformed_rows(hub):
    first = hub.create()
    expected, good = first.expectation(["cloud"]), first.row("good")
    for members in ({"type": "text", "value": "x"}, {"type": "integer", "value": "x"}, {},
                    {"type": "string", "value": "x", "deleted": True}, {"stamp": "7"},
                    {"origin": "0" * 16}, {"key": ""}, {"store": ""}):
        row = {**first.row("k", deleted=True), **members}
        if "type" in members or not members:
            row.pop("deleted", None) if "deleted" not in members else None
        answer = first.ask(
            ["cloud"], [first.push_step(["cloud"], 2)], [good, row], expected=expected)
        error = answer.is_error(400, "malformed")
        require(error.get("line") == 3, members, "is in line", error.get("line"), error)
    require(first.look(["cloud"])["seq"] == 0, "the row beside came in")


@claim("a message that was cut off anywhere is malformed, and writes nothing")
def cut_off(hub):
    first = hub.create()
    head = {"device": first.replica, "stores": ["cloud"], "expected": first.expectation(["cloud"]),
            "steps": [first.push_step(["cloud"], 2)]}
    good = message(head, [first.row("a"), first.row("b")])
    for end in [*range(1, len(good), max(1, len(good) // 25)), len(good) - 1]:
        first.post(good[:end]).is_error(400, "malformed")
    require(first.look(["cloud"])["seq"] == 0, "a part came in")
    first.take(first.post(good))


@claim("another version of the protocol is refused with those that the hub speaks")
def versions(hub):
    first = hub.create()
    body = message({"device": first.replica, "stores": [], "steps": []})
    answer = first.post(body.replace(b'"protocol":1', b'"protocol":2'))
    error = answer.is_error(426, "protocol")
    require(error.get("protocols") == [1], error)


@claim("members that are not known are left to later versions")
def later_versions(hub):
    first = hub.create()
    first.take(first.post(message(
        {"later": [{}], "device": first.replica, "stores": ["cloud"], "steps": []})))


@claim("more rows than a page has, or a body of more than 4 MiB, are refused as a page")
def large_pages(hub):
    first = hub.create()
    limit = hub.send("GET", "/v1").json["limits"]["pageRows"]
    first.look(["cloud"])
    answer = first.try_push([first.row(f"k{place}") for place in range(limit + 1)])
    answer.is_error(413, "page")
    try:
        answer = hub.once("POST", "/v1/sync", b"x" * (6 << 20), token=first.token)
        require(answer.status == 413, "6 MiB get", answer.status)
    except (ConnectionError, TimeoutError):
        pass  # It was closed.
    require(first.look(["cloud"])["seq"] == 0, "something came in")


@claim("a key or a value above its limit is refused, with the limit, and writes nothing")
def large_rows(hub):
    first = hub.create()
    limits = hub.send("GET", "/v1").json["limits"]
    first.look(["cloud"])
    for row in (first.row("k" * (limits["keyBytes"] + 1)),
                first.row("k", "v" * (limits["valueBytes"] + 1))):
        first.head = None
        error = first.try_push([row]).is_error(413, "page")
        require("limit" in error, error)
    require(first.look(["cloud"])["seq"] == 0, "it came in")
    largest = [first.row("k" * limits["keyBytes"]), first.row("v", "v" * limits["valueBytes"])]
    for row in largest:
        require(first.push([row])["changed"] == 1, "the limit itself is refused")


@claim("a full account goes on reading and deleting")
def full(hub):
    limits = hub.send("GET", "/v1").json["limits"]
    if limits["rows"] > 2000:
        raise Skipped(f"this hub lets an account have {limits['rows']} rows; tried up to 2000")
    first = hub.create()
    left = limits["rows"]
    while left:
        count = min(left, limits["pageRows"])
        first.push([first.row(f"k{left - place}") for place in range(count)])
        left -= count
    more = [first.row("k1", at=stamp(first.now)), first.row("one more")]
    error = first.try_push(more).is_error(507, "full")
    require("limit" in error, error)
    require(first.look(["cloud"])["seq"] == limits["rows"], "a part of the push came in")
    require(first.push([first.row("k1", deleted=True, at=stamp(first.now + 1))])["changed"] == 1,
            "deletions are refused")
    require(len(first.join().read()) == limits["rows"], "it cannot be read")


@claim("too many requests of one token are answered busy, and others are served meanwhile")
def busy(hub):
    limit = hub.send("GET", "/v1").json["limits"]["requestsPerMinute"]
    if limit > 1000:
        raise Skipped(f"this hub allows {limit} requests a minute; tried up to 1000")
    first, other = hub.create(), hub.create()
    for _ in range(limit * 3):
        answer = hub.once("GET", "/v1/devices", token=first.token)
        if answer.status != 200:
            break
    answer.is_error(429, "busy")
    hub.once("GET", "/v1/devices", token=other.token).has(200)


# Connections

@claim("a connection serves one request after another")
def keeps_alive(hub):
    connection = hub.connection()
    for _ in range(3):
        connection.request("GET", hub.prefix + "/v1")
        answer = connection.getresponse()
        answer.read()
        require(answer.status == 200, answer.status)
    connection.close()


@claim("a request that announces its body is told to send it, or is answered")
def expects(hub):
    first = hub.create()
    body = message({"device": first.replica, "stores": [], "steps": []})
    with hub.socket() as plain:
        plain.settimeout(10)
        plain.sendall(
            (f"POST {hub.prefix}/v1/sync HTTP/1.1\r\nHost: {hub.host}\r\nConnection: close\r\n"
             f"Authorization: Bearer {first.token}\r\nContent-Type: application/jsonl\r\n"
             f"Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n").encode())
        began = time.monotonic()
        head = plain.recv(4096)
        require(head.startswith((b"HTTP/1.1 100", b"HTTP/1.1 417")), head[:80])
        require(time.monotonic() - began < 1, "it let wait")
        plain.sendall(body)
        require(b" 200 " in plain.recv(4096)[:20], "the body was not taken")


@claim("garbage on a connection, and a body that ends too early, harm nobody else")
def garbage(hub):
    first = hub.create()
    for sent in (b"\x16\x03\x01\xff\xfe\x00\r\n\r\n", b"GET\r\n\r\n",
                 b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
                 b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"):
        with hub.socket() as plain:
            plain.settimeout(10)
            try:
                plain.sendall(sent)
                answer = plain.recv(4096)
                require(not re.match(rb"HTTP/1\.[01] [235]", answer), answer[:80])
            except (ConnectionError, TimeoutError):
                pass
    head = {"device": first.replica, "stores": ["cloud"], "expected": first.expectation(["cloud"]),
            "steps": [first.push_step(["cloud"], 1)]}
    body = message(head, [first.row("k")])
    with hub.socket() as plain:
        plain.sendall(
            (f"POST {hub.prefix}/v1/sync HTTP/1.1\r\nHost: {hub.host}\r\n"
             f"Authorization: Bearer {first.token}\r\nContent-Type: application/jsonl\r\n"
             f"Content-Length: {len(body) + 5}\r\n\r\n").encode() + body)
    time.sleep(0.2)
    require(first.look(["cloud"])["seq"] == 0, "a request that was cut off wrote")

# SPDX-License-Identifier: Apache-2.0
"""A hub in memory, written from HubProtocol.md alone: the claims are tried on it, and on it changed.

It keeps nothing, and serves tests.
"""

import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

LIMITS = {
    "keyBytes": 1024, "valueBytes": 1 << 20, "rows": 1500, "bytes": 64 << 20, "devices": 64,
    "stores": 256, "origins": 1000, "revocations": 100, "pageRows": 1000, "pageBytes": 1 << 20,
    "requestsPerMinute": 200, "streams": 4}
SKEW = 300_000
KINDS = {
    "string": str, "integer": (int, str), "real": (int, float, str), "boolean": bool, "data": str,
    "date": str, "array": list, "dictionary": dict}


class Refusal(Exception):
    def __init__(self, status, code, problem="it is refused", cure="look again", **more):
        self.status, self.retry = status, more.pop("retry", None)
        self.body = {"error": code, "problem": problem, "cure": cure, **more}


def now():
    return time.time_ns() // 1_000_000


def digest(text):
    return hashlib.sha256(text.encode()).digest()


def malformed(problem, line=1):
    return Refusal(400, "malformed", problem, "send what the protocol describes", line=line)


def need(holds, problem, line=1):
    if not holds:
        raise malformed(problem, line)


def digits(text):
    return isinstance(text, str) and len(text) == 16 and not set(text) - set("0123456789abcdef") \
        and int(text, 16) < 1 << 63


def replica(text):
    return digits(text) and int(text, 16) > 0


def count(value):
    return type(value) is int and 0 <= value <= 1 << 53


class Account:
    def __init__(self, number):
        self.number, self.hub, self.former = number, f"{secrets.randbits(61) + 1:016x}", []
        self.seq, self.rows, self.held, self.seen = 0, {}, {}, {}
        self.limits, self.peers, self.pushers = {}, {}, {}
        self.changed = threading.Condition()

    # Order

    def rank(self, row):
        at = int(row["stamp"], 16)
        return min(at, self.limits.get(row["origin"], at)), int(row["origin"], 16)

    def put(self, row):
        self.seq += 1
        self.rows[row["store"], row["key"]] = {**row, "seq": self.seq}

    def promote(self):
        held = sorted(self.held.items(), key=lambda each: self.rank(each[1]), reverse=True)
        for place, row in held:
            if self.rank(row)[0] > self.horizon:
                continue
            known = self.rows.get(place[:2])
            same = known and {**row, "seq": 0} == {**known, "seq": 0}
            if known and not same and not self.has_read(place, known):
                continue
            del self.held[place]
            if not same and (known is None or self.rank(row) >= self.rank(known)):
                self.put(row)

    def has_read(self, place, known):
        device, seq = self.pushers[place]
        if known["origin"] in (device, place[3]):
            return True
        return known["seq"] <= max(self.peer(device, known["store"])["acked"], seq)

    def told(self, place, at):
        """What is told of the version vector."""
        waiting = [int(row["stamp"], 16) - 1 for row in self.held.values()
                   if (row["store"], row["origin"]) == place]
        return min([at, self.horizon] + waiting)

    # Requests

    def answer(self, head, rows):
        at = now()
        self.horizon = (at + SKEW) << 16 | 0xFFFF
        met, stores, device = bool(self.peers), head["stores"], head["device"]
        self.promote()
        peers = [self.peer(device, store) for store in stores]
        steps, recalled = head["steps"], head.get("recalled")
        is_read = recalled and self.recall(recalled, stores, peers)
        if recalled:
            pass
        elif "expected" in head:
            expected = head["expected"]
            if expected["hub"] != self.hub or expected["peers"] != peers:
                raise Refusal(409, "moved")
        elif any(step["step"] != "revoke" for step in steps):
            raise Refusal(409, "moved")
        more, revoked = {}, 0
        for step in steps:
            kind = step["step"]
            if recalled and kind == "push" and not is_read or (
                    recalled and kind == "offer" and is_read and "pushed" not in more):
                continue
            if recalled and kind == "offer" and "pushed" in more and not more["pushed"]["answered"]:
                step = {**step, "echo": [more["pushed"]["before"], more["pushed"]["after"]]}
            if kind == "revoke":
                revoked += self.revoke(step["limits"])
            elif kind == "rename":
                self.former.append(self.hub)
                self.hub, self.peers = step["hub"], {}
            elif kind == "rewind":
                self.change(device, stores, lambda peer, _: peer.update(cursor=0))
            elif kind == "acknowledge":
                self.change(device, stores, lambda peer, place: peer.update(
                    acked=max(peer["acked"], step["cursors"][place])))
            elif kind == "push":
                more["pushed"] = self.push(device, stores, step, rows)
            else:
                if kind == "offer":
                    self.change(device, stores, lambda peer, place: self.offer(peer, step, place))
                more["page"], found = self.page(stores, step)
                more["found"] = found
        found = more.pop("found", [])
        if recalled and "page" not in more:
            self.change(device, stores, lambda peer, place: peer.update(
                acked=max(peer["acked"], recalled["peers"][place]["cursor"])))
        last = {}
        for row in self.rows.values():
            last[row["store"]] = max(last.get(row["store"], 0), row["seq"])
        return {
            "hub": self.hub, "former": self.former, "time": at, "seq": self.seq, "forgotten": 0,
            "hasMet": met, "stores": [
                {"store": store, "last": last.get(store, 0), "peer": self.peer(device, store)}
                for store in sorted({*stores, *last})],
            "revocations": [{"origin": origin, "stamp": f"{limit:016x}"}
                            for origin, limit in sorted(self.limits.items())],
            "waiting": len(self.held), "revoked": revoked, **more}, found

    def recall(self, recalled, stores, peers):
        """Whether the device has read everything, if it stands as the hub remembers it."""
        limits = {each["origin"]: int(each["stamp"], 16) for each in recalled["revocations"]}
        fits = recalled["hub"] == self.hub and limits == self.limits and all(
            mine.get("readToken") and mine["readToken"] == hubs.get("token")
            and mine["acked"] == hubs["cursor"] and mine["cursor"] <= self.seq
            and hubs.get("readToken") in (
                None, mine.get("token"), mine.get("prior"), mine.get("theirRead"))
            for mine, hubs in zip(recalled["peers"], peers))
        if not fits:
            raise Refusal(409, "moved")
        cursors = dict(zip(stores, (mine["cursor"] for mine in recalled["peers"])))
        return all(row["seq"] <= cursors.get(row["store"], row["seq"]) for row in self.rows.values())

    def peer(self, device, store):
        return dict(self.peers.get((device, store), {"cursor": 0, "acked": 0}))

    def change(self, device, stores, body):
        for place, store in enumerate(stores):
            peer = self.peer(device, store)
            body(peer, place)
            self.peers[device, store] = {
                name: peer[name]
                for name in ("cursor", "acked", "readToken", "token", "prior", "theirRead")
                if peer.get(name) is not None}

    def offer(self, peer, step, place):
        memory = step["memory"][place]
        peer.update(
            acked=max(peer["acked"], memory["cursor"]), theirRead=memory.get("readToken"),
            prior=peer.get("token"), token=step["token"])

    def page(self, stores, step):
        cursors = {store: memory["cursor"] for store, memory in zip(stores, step["memory"])}
        after, end = step.get("after", 0), step.get("through", self.seq)
        lower, upper = step["echo"]
        unread = sorted(
            (row for row in self.rows.values()
             if row["store"] in cursors and max(cursors[row["store"]], after) < row["seq"] <= end
             and not lower < row["seq"] <= upper), key=lambda row: row["seq"])
        found, size = [], 0
        for row in unread:
            if len(found) >= max(1, min(step["page"]["rows"], LIMITS["pageRows"])) or (
                    found and size >= min(step["page"]["bytes"], LIMITS["pageBytes"])):
                break
            found.append(row)
            size += len(row["key"]) + len(json.dumps(row.get("value", "")))
        is_more = len(found) < len(unread)
        seen = [] if step["step"] == "more" else [
            {"store": store, "origin": origin, "stamp": f"{self.told((store, origin), at):016x}"}
            for (store, origin), at in sorted(self.seen.items()) if store in stores]
        return {"through": found[-1]["seq"] if is_more else end, "more": is_more, "seen": seen}, found

    def push(self, device, stores, step, rows):
        read = dict(zip(stores, step["read"]))
        lower, upper = step["own"]
        if any(row["store"] in read and row["seq"] > read[row["store"]]
               and not lower < row["seq"] <= upper for row in self.rows.values()):
            raise Refusal(409, "behind")
        pushed = {"before": self.seq, "after": 0, "changed": 0, "held": 0, "answered": 0}
        for row in rows:
            place = row["store"], row["key"]
            known = self.rows.get(place)
            if row["store"] not in read:
                continue
            if known and {**row, "seq": 0} == {**known, "seq": 0}:
                continue
            if known and self.rank(row) < self.rank(known):
                if known["seq"] <= read[row["store"]]:
                    self.put(known)
                    pushed["answered"] += 1
            elif self.rank(row)[0] > self.horizon:
                self.held[(*place, row["stamp"], row["origin"])] = row
                self.pushers[(*place, row["stamp"], row["origin"])] = device, pushed["before"]
                pushed["held"] += 1
            else:
                if not known and len(self.rows) >= LIMITS["rows"]:
                    raise Refusal(507, "full", limit="rows")
                self.put(row)
                pushed["changed"] += 1
        pushed["after"] = self.seq
        self.change(device, stores, lambda peer, _: peer.update(
            cursor=max(peer["cursor"], step["through"]), readToken=step["token"]))
        for entry in step.get("seen") or []:
            place = entry["store"], entry["origin"]
            self.seen[place] = max(self.seen.get(place, 0), int(entry["stamp"], 16))
        return pushed

    def revoke(self, limits):
        found = 0
        for entry in limits:
            origin, limit = entry["origin"], int(entry["stamp"], 16)
            if limit > self.horizon or limit >= self.limits.get(origin, 1 << 63):
                continue
            self.limits[origin] = limit
            late = [place for place, row in self.held.items()
                    if row["origin"] == origin and int(row["stamp"], 16) > limit]
            for place in late:
                del self.held[place]
            for place, at in self.seen.items():
                if place[1] == origin:
                    self.seen[place] = min(at, limit)
            found += any(row["origin"] == origin and int(row["stamp"], 16) > limit
                         for row in self.rows.values())
        if found:
            for peer in self.peers.values():
                peer["cursor"] = 0
        return found


# Reading messages

def read_row(text, line):
    row = read_json(text, line)
    for name in ("store", "key"):
        need(isinstance(row.get(name), str) and row[name], f"no {name}", line)
    need(digits(row.get("stamp")) and replica(row.get("origin")), "no stamp or origin", line)
    if row.get("deleted") is True:
        need("type" not in row and "value" not in row, "deleted, with a value", line)
    elif type(row.get("type")) is int:
        need(isinstance(row.get("value"), dict) and len(row["value"]) <= 1, "no column", line)
    else:
        kind, value = row.get("type"), row.get("value")
        need(isinstance(kind, str) and kind in KINDS and isinstance(value, KINDS[kind]),
             "neither type and value nor deleted", line)
        if kind == "integer" and isinstance(value, str):
            need(value.lstrip("-").isdigit() and abs(int(value)) > 1 << 53, "no integer", line)
    sizes = (("keyBytes", len(row["key"].encode())),
             ("valueBytes", len(str(row.get("value", "")).encode())))
    for name, size in sizes:
        if size > LIMITS[name]:
            raise Refusal(413, "page", limit=name)
    return row


def read_json(text, line):
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise malformed(str(problem), line) from None
    need(isinstance(value, dict), "no object", line)
    return value


def read_request(body):
    if len(body) > 4 << 20:
        raise Refusal(413, "page", limit="bodyBytes")
    need(body.endswith(b"\n"), "it was cut off")
    try:
        first, *lines = body.decode().split("\n")[:-1]
    except ValueError:
        raise malformed("no UTF-8") from None
    head = read_json(first, 1)
    need(type(head.get("protocol")) is int, "no protocol")
    if head["protocol"] != 1:
        raise Refusal(426, "protocol", protocols=[1])
    need(head.get("rows") == len(lines), "rows is not how many lines follow")
    if len(lines) > LIMITS["pageRows"]:
        raise Refusal(413, "page", limit="pageRows")
    stores, steps = head.get("stores"), head.get("steps")
    need(replica(head.get("device")), "device is no replica ID")
    need(isinstance(stores, list) and all(isinstance(each, str) and each for each in stores)
         and len(set(stores)) == len(stores), "stores")
    need(isinstance(steps, list) and all(isinstance(each, dict) for each in steps), "steps")
    members = {"revoke": [], "rename": [], "rewind": [], "offer": ["memory"], "more": ["memory"],
               "push": ["read"], "acknowledge": ["cursors"]}
    for step in steps:
        need(step.get("step") in members, "there is no such step")
        for name in members[step["step"]]:
            need(isinstance(step.get(name), list) and len(step[name]) == len(stores), name)
        for name in ("through", "after"):
            need(name not in step or count(step[name]), name)
    need(len({step["step"] for step in steps}) == len(steps), "two steps of a kind")
    pushes = sum(step["step"] == "push" for step in steps)
    need(pushes == 1 or not pushes and not lines, "rows without a step")
    return head, [read_row(text, place + 2) for place, text in enumerate(lines)]


class Shelf:
    def __init__(self, secret):
        self.secret, self.accounts, self.members, self.codes = secret, {}, {}, {}
        self.lock = threading.RLock()
        self.next = 1

    def add(self, account, name):
        need(isinstance(name, str) and 0 < len(name) <= 100, "no name")
        token = secrets.token_urlsafe(32)
        made = {"account": account.number, "device": self.next, "name": name, "created": now(),
                "lastUse": now(), "streams": [], "requests": []}
        self.members[digest(token)] = made
        self.next += 1
        return {"account": account.number, "device": made["device"], "token": token}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    shelf = None

    def log_message(self, *_):
        pass

    def send(self, status, body=None, kind="application/json", retry=None):
        data = b"" if body is None else body if isinstance(body, bytes) else (
            json.dumps(body, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", kind)
        if retry:
            self.send_header("Retry-After", str(retry))
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def serve(self):
        try:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 <= length <= 4 << 20:
                self.close_connection = True
                raise Refusal(413, "page", limit="bodyBytes")
            self.body = self.rfile.read(length)
            if len(self.body) < length:
                self.close_connection = True
                return
            self.route()
        except Refusal as refusal:
            self.send(refusal.status, refusal.body, retry=refusal.retry)
        except (BrokenPipeError, ConnectionError):
            self.close_connection = True

    do_GET = do_POST = do_DELETE = do_PATCH = serve

    def token(self):
        kind, _, token = (self.headers.get("Authorization") or "").partition(" ")
        return token if kind == "Bearer" else ""

    def member(self):
        member = self.shelf.members.get(digest(self.token()))
        if not member:
            raise Refusal(401, "token", "the token is unknown", "join again")
        if "revoked" in member:
            by, date = member["revoked"]["by"], member["revoked"]["date"]
            raise Refusal(
                403, "revoked", f"device {by} has revoked it", "join again", date=date, by=by)
        recent = [at for at in member["requests"] if at > time.monotonic() - 60]
        member["requests"] = recent + [time.monotonic()]
        if len(recent) >= LIMITS["requestsPerMinute"]:
            raise Refusal(429, "busy", retry=1)
        member["lastUse"] = now()
        return member, self.shelf.accounts[member["account"]]

    def route(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        parts = tuple(url.path.strip("/").split("/"))
        with self.shelf.lock:
            found = self.find(parts, query)
        if found:
            found()

    def find(self, parts, query):
        shelf, call = self.shelf, (self.command, *parts)
        if call == ("GET", "v1"):
            return self.send(200, {"protocol": 1, "version": "0", "time": now(), "limits": LIMITS})
        if call in (("GET", "health"), ("GET", "ready")):
            return self.send(200, b"ok\n", "text/plain")
        if call == ("POST", "v1", "accounts"):
            if self.token() != shelf.secret:
                raise Refusal(401, "token", "no operator's secret", "ask the operator")
            name = read_json(self.body, 1).get("name")
            need(isinstance(name, str), "no name")
            account = Account(max(shelf.accounts, default=0) + 1)
            shelf.accounts[account.number] = account
            return self.send(201, shelf.add(account, name))
        if call == ("POST", "v1", "devices"):
            body = read_json(self.body, 1)
            need(isinstance(body.get("code"), str) and isinstance(body.get("name"), str), "no code")
            number, end = shelf.codes.pop(digest(body["code"]), (0, 0))
            if now() > end:
                raise Refusal(403, "invitation", "the code is unknown, used or ended", "invite again")
            return self.send(201, shelf.add(shelf.accounts[number], body["name"]))
        known = {("POST", "v1", "sync"), ("GET", "v1", "events"), ("POST", "v1", "invitations"),
                 ("GET", "v1", "devices"), ("GET", "v1", "export"), ("DELETE", "v1", "account")}
        of_device = len(parts) in (3, 4) and parts[:2] == ("v1", "devices") and (
            (self.command, *parts[3:]) in (("DELETE",), ("POST", "retire")))
        if call not in known and not of_device:
            raise Refusal(404, "path", "there is no such path", "see the protocol")
        member, account = self.member()
        mine = sorted((each for each in shelf.members.values()
                       if each["account"] == account.number), key=lambda each: each["device"])
        if of_device:
            other = [each for each in mine if str(each["device"]) == parts[2]]
            if not other:
                raise Refusal(404, "path", "there is no such device", "list devices")
            if self.command == "DELETE":
                other[0]["revoked"] = {"date": now(), "by": member["device"]}
                shelf.codes = {key: each for key, each in shelf.codes.items()
                               if each[0] != account.number}
                with account.changed:
                    account.changed.notify_all()
            else:
                other[0]["retired"] = True
            return self.send(204)
        if call[2] == "sync":
            head, rows = read_request(self.body)
            member["replica"] = head["device"]
            saved = {"seq": account.seq, **{
                name: dict(getattr(account, name))
                for name in ("rows", "held", "seen", "limits", "peers", "pushers")}}
            try:
                answer, found = account.answer(head, rows)
            except Refusal:
                account.__dict__.update(saved)
                raise
            with account.changed:
                account.changed.notify_all()
            lines = [{"protocol": 1, **answer, "rows": len(found)}, *found]
            text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
                           for line in lines)
            return self.send(200, text.encode(), "application/jsonl")
        if call[2] == "invitations":
            code, end = secrets.token_urlsafe(32), now() + 600_000
            shelf.codes[digest(code)] = account.number, end
            return self.send(201, {"code": code, "end": end})
        if call[2] == "devices":
            names = ("device", "name", "created", "lastUse", "replica", "revoked", "retired")
            return self.send(200, {"account": account.number, "devices": [
                {**{name: each[name] for name in names if name in each},
                 **({"self": True} if each is member else {})} for each in mine]})
        if call[2] == "export":
            text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
                           for row in account.rows.values())
            return self.send(200, text.encode(), "application/jsonl")
        if call[2] == "account":
            if query.get("confirm") != str(account.number):
                raise Refusal(400, "confirm", "confirm is not the account", "name it")
            shelf.members = {key: each for key, each in shelf.members.items() if each not in mine}
            del shelf.accounts[account.number]
            return self.send(204)
        return lambda: self.events(member, account, query)

    def events(self, member, account, query):
        if query:
            for name, most in (("after", 1 << 53), ("wait", 55)):
                text = query.get(name, "")
                need(text.isdigit() and int(text) <= most, name)
            end = time.monotonic() + int(query["wait"])
            with account.changed:
                while account.seq <= int(query["after"]) and time.monotonic() < end:
                    account.changed.wait(end - time.monotonic())
            self.send(200, {"seq": account.seq})
            return
        mine = object()
        with account.changed:
            member["streams"] = [*member["streams"], mine][-LIMITS["streams"]:]
            account.changed.notify_all()
        self.close_connection = True
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            told = -1
            while "revoked" not in member and mine in member["streams"]:
                if account.seq != told:
                    told = account.seq
                    self.wfile.write(b'id: %d\ndata: {"seq":%d}\n\n' % (told, told))
                with account.changed:
                    if account.seq == told and not account.changed.wait(25):
                        self.wfile.write(b":\n\n")
        finally:
            with account.changed:
                member["streams"] = [each for each in member["streams"] if each is not mine]


def start(secret, port=0):
    """A server in threads of its own, and its address."""
    handler = type("ShelfHandler", (Handler,), {"shelf": Shelf(secret)})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"

# SPDX-License-Identifier: Apache-2.0
"""HTTP and messages of the hub's protocol, as HubProtocol.md describes them."""

import http.client
import json
import random
import socket
import ssl
import time
from urllib.parse import urlsplit


class Wrong(Exception):
    """What a hub does otherwise than a claim says."""


def require(holds, *said):
    if not holds:
        raise Wrong(" ".join(str(part) for part in said))


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.type = (response.headers.get("Content-Type") or "").split(";")[0].strip()
        self.body = body

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            raise Wrong(f"the answer {self.status} is no JSON: {self.body[:200]!r}") from None

    def has(self, status, content_type=None):
        require(self.status == status, f"status {self.status}, not {status}: {self.body[:300]!r}")
        if content_type:
            require(self.type == content_type, f"Content-Type {self.type!r}, not {content_type!r}")
        return self

    def is_error(self, status, code):
        """An error tells its code, the problem and a cure."""
        self.has(status, "application/json")
        error = self.json
        require(error.get("error") == code, f"error {error.get('error')!r}, not {code!r}: {error}")
        for member in ("problem", "cure"):
            require(isinstance(error.get(member), str) and error[member], f"no {member!r}: {error}")
        if status in (429, 503):
            after = self.headers.get("Retry-After", "")
            require(after.isdigit(), f"Retry-After is {after!r}")
        return error


class Hub:
    """A hub by its address."""

    def __init__(self, address, secret, authority=None, timeout=30):
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SystemExit(f"{address} is no address of a hub, such as http://127.0.0.1:7890")
        self.tls = ssl.create_default_context(cafile=authority) if parts.scheme == "https" else None
        self.host = parts.hostname
        self.port = parts.port or (443 if self.tls else 80)
        self.prefix = parts.path.rstrip("/")
        self.secret = secret
        self.timeout = timeout
        self.made = []

    def connection(self):
        if self.tls:
            return http.client.HTTPSConnection(
                self.host, self.port, timeout=self.timeout, context=self.tls)
        return http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)

    def socket(self):
        """A connection without HTTP."""
        plain = socket.create_connection((self.host, self.port), timeout=self.timeout)
        return self.tls.wrap_socket(plain, server_hostname=self.host) if self.tls else plain

    def once(self, method, path, body=None, token=None, headers=None):
        """One request; answers whatever the hub does."""
        headers = dict(headers or {})
        if token is not None:
            headers.setdefault("Authorization", f"Bearer {token}")
        if body is not None:
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
            headers.setdefault(
                "Content-Type",
                "application/jsonl" if path.startswith("/v1/sync") else "application/json")
        connection = self.connection()
        try:
            connection.request(
                method, self.prefix + path,
                body.encode() if isinstance(body, str) else body, headers)
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    def send(self, method, path, body=None, token=None, headers=None):
        """A request that waits where it is told to."""
        for _ in range(20):
            answer = self.once(method, path, body, token, headers)
            if answer.status != 429:
                return answer
            time.sleep(min(int(answer.headers.get("Retry-After", "1")), 60))
        raise Wrong("busy for 20 times")

    def stream(self, path, token):
        """A connection whose answer goes on, and the answer."""
        for _ in range(20):
            connection = self.connection()
            connection.request(
                "GET", self.prefix + path, headers={"Authorization": f"Bearer {token}"})
            response = connection.getresponse()
            if response.status != 429:
                return connection, response
            time.sleep(min(int(response.headers.get("Retry-After", "1")), 60))
            connection.close()
        raise Wrong("busy for 20 times")

    def create(self, name="first"):
        """A device of a new account."""
        answer = self.send("POST", "/v1/accounts", {"name": name}, token=self.secret)
        made = answer.has(201, "application/json").json
        self.made.append((made["account"], made["token"]))
        return Device(self, made)

    def delete_all(self):
        for account, token in self.made:
            self.send("DELETE", f"/v1/account?confirm={account}", token=token)
        self.made = []


def number(value):
    return f"{value:016x}"


def stamp(milliseconds, counter=0):
    """A timestamp of a hybrid logical clock."""
    return number(milliseconds << 16 | counter)


def message(head, rows=()):
    lines = [{"protocol": 1, **head, "rows": len(rows)}, *rows]
    return "".join(
        (line if isinstance(line, str)
         else json.dumps(line, ensure_ascii=False, separators=(",", ":"))) + "\n"
        for line in lines).encode()


def parse(body):
    """The head and the rows of a message, each row as its text too."""
    require(body.endswith(b"\n"), "a message does not end with its line:", body[-80:])
    head, *lines = body.decode().split("\n")[:-1]
    head = json.loads(head)
    require(head.get("protocol") == 1, "protocol is", head.get("protocol"))
    require(head.get("rows") == len(lines), head.get("rows"), "rows announced,", len(lines), "sent")
    return head, lines


class Device:
    """A device that keeps what it has to remember of the hub, and no settings."""

    def __init__(self, hub, made, replica=None):
        self.hub, self.token, self.account = hub, made["token"], made["account"]
        self.number = made["device"]
        self.replica = replica or number(random.randrange(1, 1 << 62))
        # Its local sequence number, and what it remembers of the hub in each store.
        self.lseq = 0
        self.memory = {}
        # What it was answered last.
        self.head = None
        self.own = [0, 0]

    def join(self, name="second"):
        """Another device of its account."""
        code = self.hub.send("POST", "/v1/invitations", token=self.token).has(201).json["code"]
        made = self.hub.send("POST", "/v1/devices", {"code": code, "name": name})
        return Device(self.hub, made.has(201, "application/json").json)

    # Requests

    def post(self, body):
        return self.hub.send("POST", "/v1/sync", body, token=self.token)

    def ask(self, stores, steps, rows=(), expected=True):
        """The answer to steps, whatever it is; `expected` is what the hub said last, or another."""
        head = {"device": self.replica, "stores": stores}
        if expected is True:
            expected = self.expectation(stores)
        if expected:
            head["expected"] = expected
        return self.post(message({**head, "steps": steps}, rows))

    def expectation(self, stores):
        if self.head is None or any(store not in self.stores for store in stores):
            self.look(stores)
        return {"hub": self.head["hub"], "peers": [self.stores[store]["peer"] for store in stores]}

    def take(self, answer):
        """Remembers an answer that was given; its rows as texts."""
        head, rows = parse(answer.has(200, "application/jsonl").body)
        self.head = head
        self.stores = {store["store"]: store for store in head["stores"]}
        return rows

    def look(self, stores):
        self.take(self.ask(stores, [], expected=None))
        return self.head

    def refused(self, answer, code):
        """After a refusal the next request looks again."""
        self.head = None
        return answer.is_error(409, code)

    # Exchanges

    def remembered(self, store):
        return self.memory.setdefault(store, {"cursor": 0, "acked": 0})

    def new_token(self):
        tokens = [
            state.get(name) for state in self.memory.values()
            for name in ("readToken", "token", "theirRead")]
        tokens += [
            store["peer"].get(name) for store in (self.stores.values() if self.head else [])
            for name in ("readToken", "token", "theirRead")]
        last = max((int(token, 16) >> 32 for token in tokens if token), default=0)
        return number((last + 1) << 32 | random.getrandbits(32))

    def offer_step(self, stores, rows=1000, size=1 << 20, echo=(0, 0)):
        return {
            "step": "offer", "token": self.new_token(),
            "memory": [dict(self.remembered(store)) for store in stores], "echo": list(echo),
            "page": {"rows": rows, "bytes": size}}

    def read(self, stores=("cloud",), rows=1000, size=1 << 20, echo=(0, 0)):
        """Reads all that is new; the rows as texts, with how many each page had."""
        stores = list(stores)
        self.expectation(stores)
        offer = self.offer_step(stores, rows, size, echo)
        found = self.take(self.ask(stores, [offer]))
        end, sizes = self.head["seq"], [len(found)]
        while self.head["page"]["more"]:
            through = self.head["page"]["through"]
            more = {**offer, "step": "more", "after": through, "through": end}
            page = self.take(self.ask(stores, [more]))
            require(self.head["page"]["through"] > through, "a page does not go on")
            found += page
            sizes.append(len(page))
        for store in stores:
            self.remembered(store).update(cursor=end, readToken=offer["token"])
        self.pages = sizes
        return found

    def push_step(self, stores, count, seen=(), own=None):
        self.lseq += count
        return {
            "step": "push", "token": self.new_token(), "through": self.lseq,
            "read": [self.remembered(store)["cursor"] for store in stores],
            "own": own or self.own, "seen": list(seen)}

    def try_push(self, rows, stores=("cloud",), seen=(), own=None):
        stores = list(stores)
        self.expectation(stores)
        return self.ask(stores, [self.push_step(stores, len(rows), seen, own)], rows)

    def push(self, rows, stores=("cloud",), seen=()):
        """Pushes rows that the hub takes; what became of them."""
        self.take(self.try_push(rows, stores, seen))
        pushed = self.head["pushed"]
        if pushed["after"] > pushed["before"]:
            lower = self.own[0] if self.own[1] == pushed["before"] and self.own[1] else None
            self.own = [pushed["before"] if lower is None else lower, pushed["after"]]
        return pushed

    # Rows

    @property
    def now(self):
        if self.head is None:
            self.look(["cloud"])
        return self.head["time"]

    def row(self, key, value="x", at=None, origin=None, store="cloud", **members):
        content = members if "deleted" in members else {"type": "string", "value": value, **members}
        return {
            "store": store, "key": key, **content, "stamp": at or stamp(self.now),
            "origin": origin or self.replica}


def decoded(rows):
    return [json.loads(row) for row in rows]

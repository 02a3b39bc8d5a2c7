# SPDX-License-Identifier: Apache-2.0
"""A client of a hub, by HubProtocol.md alone."""
import http.client
import json
import secrets
import ssl
import time
from urllib.parse import quote, urlencode, urlsplit

START = "0-0000000000000000"


class Wrong(Exception):
    """What a hub does otherwise than the protocol says."""


def require(holds, *said):
    if not holds:
        raise Wrong(" ".join(map(str, said)))


def new_token():
    return secrets.token_urlsafe(32)


class Answer:
    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body
        self.type = (response.headers.get("Content-Type") or "").split(";")[0]

    @property
    def json(self):
        return json.loads(self.body)

    def has(self, *statuses):
        require(self.status in statuses, self.status, "not", *statuses, self.body[:300])
        return self

    def is_problem(self, status, name, limit=None):
        self.has(status)
        require(self.type == "application/problem+json", "an error is", self.type)
        problem = self.json
        require(problem["type"] == "urn:keepsake:hub:" + name, problem)
        require(problem["status"] == status and problem["detail"], problem)
        require(limit is None or problem["limit"] == limit, problem)
        if status in (429, 503):
            require(self.headers["Retry-After"].isdigit(), "no Retry-After")
        return problem

    @property
    def clock(self):
        return int(self.headers["Hub-Clock"])

    @property
    def page(self):
        """The head of an answer with rows, with all vectors, and the rows."""
        require(self.type == "application/jsonl", "rows come as", self.type)
        require(self.body.endswith(b"\n"), "the last line has no end")
        head, *rows = map(json.loads, self.body.decode().split("\n")[:-1])
        head["vectors"], rows = rows[:head["vectors"]], rows[head["vectors"]:]
        require(head["rows"] == len(rows), head["rows"], "rows announced,", len(rows), "sent")
        require(self.headers["ETag"].removeprefix("W/") == '"%s"' % head["newest"], "the ETag")
        return head, rows


class Hub:
    def __init__(self, address, secret, authority=None):
        parts = urlsplit(address)
        self.tls = ssl.create_default_context(cafile=authority) if parts.scheme == "https" else None
        self.host, self.port = parts.hostname, parts.port or (443 if self.tls else 80)
        self.prefix, self.secret, self.kept = parts.path.rstrip("/"), secret, None
        self.devices = []

    def connection(self):
        if self.tls:
            return http.client.HTTPSConnection(self.host, self.port, timeout=90, context=self.tls)
        return http.client.HTTPConnection(self.host, self.port, timeout=90)

    def once(self, method, path, body=None, token=None, headers=(), type="application/json"):
        headers = dict(headers)
        if token:
            headers["Authorization"] = "Bearer " + token
        if body is not None:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers.setdefault("Content-Type", type)
        self.kept = self.kept or self.connection()
        for _ in range(2):
            try:
                self.kept.request(method, self.prefix + path, body, headers)
                response = self.kept.getresponse()
                return Answer(response, response.read())
            except (http.client.RemoteDisconnected, ConnectionError):
                self.kept = self.connection()    # it was idle for too long
        raise Wrong("the hub closes connections")

    def send(self, *arguments, **named):
        """Waits as the hub says, for a minute at most."""
        for _ in range(20):
            answer = self.once(*arguments, **named)
            if answer.status not in (429, 503):
                return answer
            time.sleep(min(int(answer.headers["Retry-After"]), 3))
        raise Wrong("the hub is busy: %s" % answer.body[:300])

    def create(self):
        """The first device of a new account."""
        account, token = "%016x" % secrets.randbelow(1 << 62), new_token()
        made = self.send("PUT", "/v1/accounts/" + account, {"name": "first", "token": token},
                         token=self.secret).has(201)
        require(made.json["account"] == account, made.body)
        self.devices.append(Device(self, account, token, made.json["device"]))
        return self.devices[-1]

    def delete_all(self):
        for device in self.devices:
            device.ask("DELETE", "").has(204, 401, 403)


def lines(head, rows):
    every = [{**head, "rows": len(rows)}, *rows]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in every).encode()


class Device:
    """One token, and one replica ID."""

    def __init__(self, hub, account, token, number, replica=None):
        self.hub, self.account, self.token, self.number = hub, account, token, number
        self.replica = replica or secrets.token_hex(8)

    def path(self, path):
        return "/v1/accounts/%s%s" % (self.account, path)

    def ask(self, method, path, body=None, **named):
        return self.hub.send(method, self.path(path), body, token=self.token, **named)

    def join(self):
        """Another device of the account."""
        code, token = self.ask("POST", "/invitations").has(201).json["code"], new_token()
        joined = self.hub.send(
            "POST", "/v1/accounts/%s/devices" % code.split(".")[0],
            {"code": code, "name": "second", "token": token}).has(201)
        return Device(self.hub, self.account, token, joined.json["device"])

    def read(self, cursor=None, after=None, newest=None, rows=None, unless=None,
             all_vectors=False):
        query = {"replica": self.replica, "cursor": cursor, "after": after, "newest": newest,
                 "rows": rows, "vectors": "all" if all_vectors else None}
        query = urlencode({name: value for name, value in query.items() if value is not None})
        headers = {"If-None-Match": '"%s"' % unless} if unless else {}
        return self.ask("GET", "/rows?" + query, headers=headers)

    def push(self, base, rows, mark=None, vectors=None, cursor=None, newest=None, **named):
        """`mark` and `vectors` go with the last page."""
        head = {} if mark is None else {"mark": mark, "vectors": vectors or {}}
        body = rows if isinstance(rows, bytes) else lines(head, rows)
        query = "?replica=" + quote(self.replica) + ("&cursor=" + cursor if cursor else "")
        query += "&newest=" + newest if newest else ""
        return self.ask("POST", "/rows" + query, body, type="application/jsonl",
                        headers={"If-Match": '"%s"' % base}, **named)

    def forget(self, base, keys):
        return self.ask("POST", "/forget?replica=" + quote(self.replica),
                        lines({}, [{"key": key} for key in keys]), type="application/jsonl",
                        headers={"If-Match": '"%s"' % base})


def row(key, value="x", **more):
    return {"key": key, "row": value, **more}

# SPDX-License-Identifier: Apache-2.0
"""Whether the claims can fail: a hub in memory keeps to all of them, and no defective one does."""

import contextlib
import io
import os
import re
import subprocess
import tempfile
import types
from urllib.parse import urlsplit

import claims
from proxy import Proxy
from wire import Hub

SECRET = "0" * 43
PAGE = os.path.join(
    os.path.dirname(__file__), "../../Sources/Keepsake/Keepsake.docc/HubProtocol.md")
# What a part of shelf.py becomes, and words of the claim that has to find it.
DEFECTS = [
    ('raise Refusal(409, "behind")', "pass", "not read every row"),
    ('expected["hub"] != self.hub or expected["peers"] != peers', "False", "comes twice"),
    ('any(step["step"] != "revoke" for step in steps)', "False", "expects nothing"),
    ('self.rank(row) < self.rank(known)', "False", "what loses is answered"),
    ('self.rank(row) < self.rank(known)', "self.rank(row) <= self.rank(known)", "decided last"),
    ('self.put(known)', "pass", "what loses is answered"),
    ('self.rank(row)[0] > self.horizon', "False", "five minutes ahead comes in"),
    ('self.promote()', "pass", "when it is due"),
    ('not self.has_read(place, known)', "False", "read what was written meanwhile"),
    ('device, pushed["before"]', "device, 0", "read what was written meanwhile"),
    ('min([at, self.horizon] + waiting)', "min([at] + waiting)", "version vector"),
    ('len(found) >= max(1, min(step["page"]["rows"], LIMITS["pageRows"]))', "False", "hub's limit"),
    ('row["seq"] <= end', "True", "ends where it was made"),
    ('and not lower < row["seq"] <= upper), key', "), key", "echo"),
    ('row["store"] in cursors and max(cursors[row["store"]], after) < row["seq"]',
     'max(cursors.get(row["store"], 0), after) < row["seq"]', "echo"),
    ('if not fits:', "if False:", "needs no look"),
    ('return all(row["seq"] <= cursors', 'return True or all(row["seq"] <= cursors', "needs no look"),
    ('max(peer["acked"], step["cursors"][place])', 'step["cursors"][place]', "never less"),
    ('prior=peer.get("token")', 'prior=None', "remembers the tokens"),
    ('self.hub, self.peers = step["hub"], {}', 'self.hub = step["hub"]', "rename"),
    ('peer["cursor"] = 0', "pass", "taken back"),
    ('limit > self.horizon or', "", "itself from the future"),
    ('self.limits.get(row["origin"], at)', "at", "taken back"),
    ('shelf.codes.pop(digest(body["code"]), (0, 0))', 'shelf.codes.get(digest(body["code"]), (0, 0))',
     "an invitation"),
    ('if "revoked" in member:', "if False:", "revoked device"),
    ('while "revoked" not in member and mine', "while mine", "revoked device"),
    ('if each["account"] == account.number)', "if True)", "another account"),
    ('!= str(account.number)', "== None", "confirms"),
    ('need(body.endswith(b"\\n"), "it was cut off")', "body += b'' if body[-1:] == b'\\n' else b'\\n'",
     "cut off"),
    ('head.get("rows") == len(lines)', "True", "is malformed"),
    ('account.__dict__.update(saved)', "pass", "full account"),
    ('raise Refusal(426', "if False: raise Refusal(426", "another version"),
    ('self.token() != shelf.secret', "False", "operator's secret"),
    ('account.changed.notify_all()\n            lines', "pass\n            lines", "each push"),
    ('len(recent) >= LIMITS["requestsPerMinute"]', "False", "answered busy"),
    ('[-LIMITS["streams"]:]', "", "so many streams"),
    ('need(len({step["step"] for step in steps}) == len(steps), "two steps of a kind")', "pass",
     "is malformed"),
]


def source():
    with open(os.path.join(os.path.dirname(__file__), "shelf.py"), encoding="utf-8") as file:
        return file.read()


def hub(text):
    """A hub in memory of this source."""
    module = types.ModuleType("shelf")
    exec(compile(text, "shelf.py", "exec"), module.__dict__)
    return module.start(SECRET)


def example(address):
    """Whether the script of HubProtocol.md runs."""
    with open(PAGE, encoding="utf-8") as file:
        script = "".join(re.findall(r"^```sh\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "secret"), "w", encoding="utf-8") as file:
            file.write(SECRET)
        run = subprocess.run(
            ["sh", "-eu", "-c", script], cwd=folder, env={**os.environ, "HUB": address},
            capture_output=True, text=True, timeout=60)
    holds = bool(script) and run.returncode == 0
    print(f"{'ok' if holds else 'FAILED':8}the script of HubProtocol.md runs {run.stderr.strip()}")
    return 0 if holds else 1


def check(with_proxy):
    text, failed = source(), 0
    server, address = hub(text)
    failed += claims.run(Hub(address, SECRET, timeout=5))
    failed += example(address)
    if with_proxy:
        with Proxy(urlsplit(address).netloc) as proxy:
            failed += claims.run(Hub(proxy.url, SECRET, proxy.authority))
    server.shutdown()
    for part, other, claim in DEFECTS:
        changed = text.replace(part, other)
        if changed == text or not any(claim in text for text, _ in claims.ALL):
            print(f"FAILED  shelf.py has no {part!r}, or no claim has {claim!r}")
            failed += 1
            continue
        server, address = hub(changed)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            found = claims.run(Hub(address, SECRET, timeout=3), claim)
        server.shutdown()
        failed += 0 if found else 1
        print(f"{'ok' if found else 'FAILED':8}found where {part!r} is {other!r}", flush=True)
        if not re.search("FAILED|ok", said.getvalue()):
            failed += 1
            print(f"FAILED  no claim was tried for {claim!r}")
    return 1 if failed else 0

# SPDX-License-Identifier: Apache-2.0
"""Stands between a device and a hub, for what a real hub does not do at will.

    interposer.py HUB FILE

prints its address, and forwards requests to HUB. Before each it takes the first line of FILE, if
there is one, whose `for` is how the request begins, as in {"for":"POST /v1/sync"}. With it
  "status", "type", "headers", "text"  it answers that itself;
  "pass"                               it forwards this request as others;
  "lose"                               it forwards it, and the answer is lost;
  "kill": PID, "at": SHARE             it kills a process by -9 once that share of the body is sent,
                                       from 0 to 1, or without `at` once the answer is there;
  "hold": "request" or "answer"        it prints "held" and keeps that until the device hangs up.
"""

import http.client
import http.server
import json
import os
import signal
import sys
import threading
import urllib.parse

HUB = urllib.parse.urlsplit(sys.argv[1]).netloc
FILE = sys.argv[2]
LOCK = threading.Lock()
OWN = {"connection", "transfer-encoding", "keep-alive", "host"}


def take(request):
    """The line that is meant for a request, which the file has no more."""
    with LOCK:
        if not os.path.exists(FILE):
            return {}
        with open(FILE, encoding="utf-8") as file:
            lines = file.readlines()
        for place, line in enumerate(lines):
            step = json.loads(line)
            if request.startswith(step["for"]):
                with open(FILE, "w", encoding="utf-8") as file:
                    file.writelines(lines[:place] + lines[place + 1:])
                return step
        return {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def serve(self):
        self.close_connection = True
        step = take(f"{self.command} {self.path}")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if step.get("hold") == "request":
            return self.hold()
        if "status" in step:
            text = step.get("text", "").encode()
            headers = {"Content-Type": step.get("type", "application/json"),
                       "Content-Length": str(len(text))} | step.get("headers", {})
            return self.answer(step["status"], headers, [text])
        hub = http.client.HTTPConnection(HUB)
        try:
            self.forward(hub, step, body)
        except (OSError, http.client.HTTPException):
            pass  # The hub is gone: the device sees a connection that ends.
        finally:
            hub.close()

    do_GET = do_POST = do_PUT = do_DELETE = serve

    def forward(self, hub, step, body):
        hub.putrequest(self.command, self.path, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in OWN:
                hub.putheader(name, value)
        hub.endheaders()
        if "at" in step:
            part = int(len(body) * step["at"])
            hub.send(body[:part])
            os.kill(step["kill"], signal.SIGKILL)
            body = body[part:]
        hub.send(body)
        reply = hub.getresponse()
        headers = {name: value for name, value in reply.getheaders() if name.lower() not in OWN}
        if {"kill", "lose", "hold"} & step.keys():
            reply.read()
            if "kill" in step:
                os.kill(step["kill"], signal.SIGKILL)
            if "hold" in step:
                self.hold()
            return
        self.answer(reply.status, headers, iter(lambda: reply.read1(1 << 16), b""))

    def answer(self, status, headers, pieces):
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()

    def hold(self):
        print("held", flush=True)
        self.connection.recv(1)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # A device that hangs up is what some tests are about.


server = Server(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()

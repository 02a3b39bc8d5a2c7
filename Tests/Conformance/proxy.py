# SPDX-License-Identifier: Apache-2.0
"""A proxy in front of a hub: nginx with the configuration of HomeHub.md, or HAProxy."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

ARTICLE = os.path.join(
    os.path.dirname(__file__), "../../Sources/Keepsake/Keepsake.docc/HomeHub.md")


def block(port, address, folder):
    """The article's, but for what a test must have elsewhere."""
    with open(ARTICLE, encoding="utf-8") as file:
        blocks = re.findall(r"^```nginx\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    if len(blocks) != 1:
        raise SystemExit(f"{ARTICLE} has {len(blocks)} blocks of nginx, not one")
    text = blocks[0]
    for pattern, other in (
            (r"listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            (r"server_name \S+;", "server_name localhost;"),
            (r"ssl_certificate \S+;", f"ssl_certificate {folder}/certificate.pem;"),
            (r"ssl_certificate_key \S+;", f"ssl_certificate_key {folder}/key.pem;"),
            (r"http://127\.0\.0\.1:7890", f"http://{address}")):
        text, count = re.subn(pattern, other, text)
        if not count:
            raise SystemExit(f"the block of nginx in {ARTICLE} has no {pattern}")
    return text


def found(program):
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")


def nginx(port, address, folder):
    places = "".join(
        f"  {name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return (
        f"pid {folder}/pid;\nerror_log {folder}/errors;\ndaemon off;\n"
        f"master_process off;\nevents {{}}\nhttp {{\n  access_log off;\n{places}"
        f"{block(port, address, folder)}}}\n")


def haproxy(port, address, folder):
    return f"""
defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 75s
frontend devices
  bind 127.0.0.1:{port} ssl crt {folder}/both.pem alpn http/1.1
  default_backend hub
backend hub
  server hub {address}
"""


class Proxy:
    """Runs in a temporary folder until it is left; its address is `url`."""

    # The text of its configuration, Debian's package, its arguments before that.
    KINDS = {
        "nginx": (nginx, "nginx-light", ["-c"]), "haproxy": (haproxy, "haproxy", ["-db", "-f"])}

    def __init__(self, kind, address):
        self.kind, self.address = kind, address

    def __enter__(self):
        configuration, package, arguments = self.KINDS[self.kind]
        for program, needed in ((self.kind, package), ("openssl", "openssl")):
            if not found(program):
                raise SystemExit(f"{program} is missing: sudo apt-get install -y {needed}")
        self.folder = tempfile.mkdtemp(prefix="keepsake-proxy-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url, self.authority = f"https://localhost:{port}", f"{self.folder}/certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
             f"{self.folder}/key.pem", "-out", self.authority], check=True, capture_output=True)
        with open(f"{self.folder}/both.pem", "w", encoding="utf-8") as both:
            for name in ("certificate.pem", "key.pem"):
                with open(f"{self.folder}/{name}", encoding="utf-8") as part:
                    both.write(part.read())
        with open(f"{self.folder}/configuration", "w", encoding="utf-8") as file:
            file.write(configuration(port, self.address, self.folder))
        self.process = subprocess.Popen(
            [found(self.kind), *arguments, f"{self.folder}/configuration"],
            stderr=subprocess.PIPE, text=True)
        for _ in range(100):
            if self.process.poll() is not None:
                raise SystemExit(f"{self.kind} ended: {self.process.stderr.read()}")
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{self.kind} does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)

# SPDX-License-Identifier: Apache-2.0
"""nginx with the configuration of HomeHub.md, in front of a hub."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

ARTICLE = os.path.join(
    os.path.dirname(__file__), "../../Sources/Keepsake/Keepsake.docc/HomeHub.md")


def configuration(port, address, folder):
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


class Proxy:
    """Runs in a temporary folder until it is left; its address is `url`."""

    def __init__(self, address):
        self.address = address

    def __enter__(self):
        for program, package in (("nginx", "nginx-light"), ("openssl", "openssl")):
            if not found(program):
                raise SystemExit(f"{program} is missing: sudo apt-get install -y {package}")
        self.folder = tempfile.mkdtemp(prefix="keepsake-proxy-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url, self.authority = f"https://localhost:{port}", f"{self.folder}/certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
             f"{self.folder}/key.pem", "-out", self.authority], check=True, capture_output=True)
        places = "".join(
            f"  {name}_temp_path {self.folder}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(f"{self.folder}/nginx.conf", "w", encoding="utf-8") as file:
            file.write(
                f"pid {self.folder}/pid;\nerror_log {self.folder}/errors;\ndaemon off;\n"
                f"master_process off;\nevents {{}}\nhttp {{\n  access_log off;\n{places}"
                f"{configuration(port, self.address, self.folder)}}}\n")
        self.process = subprocess.Popen(
            [found("nginx"), "-p", self.folder, "-c", f"{self.folder}/nginx.conf"],
            stderr=subprocess.PIPE, text=True)
        for _ in range(100):
            if self.process.poll() is not None:
                raise SystemExit(f"nginx ended: {self.process.stderr.read()}")
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit("nginx does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)

# SPDX-License-Identifier: Apache-2.0
"""Plays random histories of the model with a served hub: each request that a device of the model
makes is sent to the hub too, and the answers are compared. `Tests/Model` is the model."""
import json
import os
import sys
import types

from client import START, require

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Model"))
import hub_model  # noqa: E402
import sync_model  # noqa: E402
import world  # noqa: E402


def row_of(key, entry):
    body = {"value": entry.value, "time": entry.time, "replica": entry.replica}
    return {"key": "/".join(key), "row": body, **({"deleted": True} if entry.value is None else {})}


class ServedHub(hub_model.Hub):
    """The model's hub beside the served one. Only the system's clock is not compared."""
    served = None      # the client
    account = None     # any device of the account

    def device(self, replica):
        self.account = self.account or self.served.create()
        self.marks_of = getattr(self, "marks_of", {sync_model.START: START})
        device = types.SimpleNamespace(**vars(self.account))
        device = type(self.account)(device.hub, device.account, device.token, device.number,
                                    str(replica))
        return device

    def get(self, replica, cursor, position, last_answer, page, all_vectors=False):
        answer = super().get(replica, cursor, position, last_answer, page, all_vectors)
        device = self.device(replica)
        head, rows = device.read(self.marks_of[cursor], position, self.marks_of[last_answer],
                                 page, all_vectors=all_vectors).has(200).page
        require(head["newest"] == self.marks_of[answer.newest], "newest", head, answer)
        require((head["cursor"] == "known") == answer.knows_device_cursor, "cursor", head, answer)
        require(head["isLast"] == answer.is_last, "isLast", head, answer)
        require(json.loads(head.get("mark", "null")) == (
            answer.remembered and list(answer.remembered)), "mark", head, answer)
        require(head["vectors"] == [self.texts(v) for number, v in self.pushed
                                    if all_vectors or number > cursor.seq], "vectors", head)
        require(rows == [{"seq": e.seq, **row_of(key, e)} for key, e in answer.rows], "rows", rows)
        return answer

    def push(self, base, last_answer, rows, replica, source, last=None):
        taken = super().push(base, last_answer, rows, replica, source, last)
        more = {"mark": json.dumps(list(last[0])), "vectors": self.texts(last[1])} if last else {}
        answer = self.device(replica).push(
            self.marks_of[base], [row_of(*row) for row in rows],
            newest=self.marks_of[last_answer], **more).has(200 if taken else 412)
        if taken:
            self.marks_of[taken[0]] = answer.json["newest"]
            require(answer.json["isNext"] == taken[1], "isNext", answer.body)
        return taken

    def drop(self, base, keys):
        super().drop(base, keys)
        if keys:
            device = self.device("compaction")
            status = device.forget(self.marks_of[base], ["/".join(key) for key in keys]).status
            require((status == 204) == (base == self.newest_mark()), status)

    @staticmethod
    def texts(vectors):
        return {store: {str(replica): time for replica, time in vector.items()}
                for store, vector in vectors.times.items()}


class ServedWorld(world.World):
    """Restores of hubs need the operator."""

    def perform(self, operation):
        if operation["do"] not in ("backupHub", "restoreHub", "dropSilent"):
            super().perform(operation)


def play(served, seeds):
    ServedHub.served, world.Hub = served, ServedHub
    for seed in seeds:
        options = types.SimpleNamespace(
            hub="only", copies=seed % 2 == 0, noticed=.5, forget=seed % 3 == 0, future=False,
            large=False)
        sync_model.PAGE = (1_000_000, 2, 5)[seed % 3]
        history = ServedWorld(seed, options)
        history.play(40)
        served.delete_all()
        served.devices.clear()
    print("ok      %d histories are those of the model" % len(seeds), flush=True)

// SPDX-License-Identifier: Apache-2.0
// The other views: changes, conflicts, peers, merge, doctor.

import { renew } from "./page.js";
import { $, attempt, brief, by, el, get, isNews, page, post, say, seen, shown, time } from "./shared.js";

const table = (titles, rows) => el("div", { class: "wide" }, el("table", {},
  el("thead", {}, el("tr", {}, ...titles.map((title) => el("th", { scope: "col" }, title)))),
  el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell) => el("td", {}, cell)))))));

const name = (item) => el("span", {}, seen(item.key), " ", el("span", { class: "store" }, seen(item.store)));

export async function changes() {
  const mine = page.changes.filter((event) => event.device === page.device);
  const rows = mine.flatMap((event) => event.changes.map((change) =>
    [time(change.modified, true), name(change), change.old.deleted ? el("em", {}, "nothing") : shown(change.old), shown(change.new), by(change.origin)]));
  const more = mine.reduce((sum, event) => sum + event.count - event.changes.length, 0);
  $("changes").replaceChildren(
    el("p", { class: "store" }, rows.length ? "Since this page was opened, whoever made them, the newest first."
      : "Nothing has changed since this page was opened. Changes show here as they happen, whoever makes them."),
    rows.length ? table(["When", "Key", "Before", "After", "By"], rows) : "",
    more ? `… and ${more.toLocaleString()} more` : "");
}

export async function conflicts() {
  const answer = await get("conflicts");
  if (!isNews("conflicts", page.device, answer)) return;
  const side = (title, content) => el("div", {}, el("h3", {}, title), el("pre", { tabindex: 0 }, shown(content)),
    el("p", { class: "store" }, time(content.modified), " by ", by(content.origin)));
  const cards = answer.conflicts.map((conflict) => el("article", { class: "card", "aria-label": `Conflict ${conflict.id}` },
    el("h2", {}, name(conflict)),
    el("div", { class: "sides" }, side("Lost", conflict.lost), side("Won", conflict.won)),
    conflict.now?.store ? el("p", {}, "Now: ", shown(conflict.now)) : null,
    conflict.resolved ? el("p", { class: "good" }, "resolved") : page.state.edit
      ? el("button", { type: "button", class: "restore", onclick: () => restore(conflict) }, "Restore what was lost") : null));
  $("conflicts").replaceChildren(el("p", { class: "store" }, answer.total
    ? `${answer.open} open of ${answer.total}` + (answer.total > cards.length ? `; the newest ${cards.length} are here` : "")
    : "Nothing has lost a merge on this device."), ...cards);
}

const restore = (conflict) => attempt(async () => {
  await post("restore", { id: conflict.id, stamp: conflict.stamp });
  say(`Restored ${conflict.store}/${conflict.key}`);
  $("conflicts").focus();
  await renew();
});

export async function peers() {
  const answer = await get("peers");
  const rows = answer.peers.flatMap((peer) => peer.lacks.map((lack) => [
    peer.peer, peer.synced ? time(peer.synced) : "one way", seen(lack.store),
    lack.count ? `${lack.count.toLocaleString()} wait for it` : "has all",
    lack.count ? time(lack.since) : ""]));
  $("peers").replaceChildren(
    rows.length ? table(["Device", "Last sync", "Store", "What waits", "Since"], rows)
      : el("p", { class: "store" }, "This device has synced with no other one."));
}

export async function merge() {
  if (page.state.devices.length < 2) {
    $("merge").replaceChildren(el("p", { class: "store" }, "Open two files to merge them: kvsync open A B"));
    return;
  }
  // The result stays while events about this merge arrive.
  if ($("first")) return;
  const pick = (id, place) => el("select", { id }, ...page.state.devices.map((device, number) =>
    el("option", { value: number, selected: number === place }, seen(device.path))));
  const result = el("div", { id: "merged", "aria-live": "polite" });
  const run = (dryRun) => attempt(async () => {
    result.replaceChildren(dryRun ? "looking …" : "merging …");
    const body = { first: Number($("first").value), second: Number($("second").value), dryRun };
    try { result.replaceChildren(...report(await post("merge", body), dryRun)); } catch (error) {
      result.replaceChildren();
      throw error;
    }
    $("merge-now").disabled = !page.state.edit || !dryRun;
    if (!dryRun) await renew();
  });
  $("merge").replaceChildren(
    el("div", { class: "line" }, el("label", {}, "Merge ", pick("first", 0)), el("label", {}, "with ", pick("second", 1)),
      el("button", { type: "button", class: "main", id: "dry-run", onclick: () => run(true) }, "What would change?"),
      el("button", { type: "button", id: "merge-now", disabled: true, onclick: () => run(false) }, "Merge")),
    page.state.edit ? "" : el("p", { class: "store" }, "This page can only read: it shows what a merge would do."), result);
  for (const id of ["first", "second"]) $(id).addEventListener("input", () => { $("merge-now").disabled = true; result.replaceChildren(); });
}

function report(answer, isDryRun) {
  const value = (content) => content ? brief(content.text) : el("em", {}, "nothing");
  const losses = answer.transfers.reduce((sum, transfer) => sum + transfer.conflicts, 0);
  const parts = [el("p", { class: answer.converged ? "good" : "" },
    isDryRun ? (answer.converged ? "All files would hold the same." : "The files would still differ.")
      : answer.converged ? "All files hold the same." : "The files still differ.",
    losses ? ` ${losses} lost and logged: see Conflicts.` : "")];
  if (!answer.changes.length) return [...parts, el("p", {}, isDryRun ? "Nothing would change." : "Nothing changed.")];
  parts.push(table(["Into", "Key", "Before", "After"], answer.changes.map((change) =>
    [seen(change.into), name(change), value(change.old), value(change.new)])));
  if (answer.truncated) parts.push(el("p", {}, "… and more"));
  return parts;
}

export async function doctor() {
  if ($("doctor").dataset.device !== String(page.device)) {
    $("doctor").dataset.device = page.device;
    $("doctor").replaceChildren(
      el("div", { class: "line" }, el("button", { type: "button", class: "main", id: "examine", onclick: () => attempt(examine) }, "Examine the file")),
      el("div", { id: "findings", "aria-live": "polite" }, el("p", { class: "store" }, "Reads every page and row of the file.")));
  }
}

async function examine() {
  $("findings").replaceChildren("reading …");
  const answer = await get("doctor");
  $("findings").replaceChildren(
    answer.findings.length ? table(["Kind", "Problem", "What to do"], answer.findings.map((finding) =>
      [finding.kind, seen(finding.problem), seen(finding.cure)])) : el("p", { class: "good" }, "Nothing is wrong."),
    el("p", { class: "store" }, `SQLite ${answer.sqlite}` + (answer.walResetBug ? " has the WAL-reset bug: Keepsake works around it" : "")));
}

// SPDX-License-Identifier: Apache-2.0
// The tabs, the state of the devices, and the events about changes.

import { growth } from "./growth.js";
import * as keys from "./keys.js";
import { $, attempt, current, el, get, isNews, page, say, seen } from "./shared.js";
import * as views from "./views.js";

// Tabs

const tabs = [...document.querySelectorAll("[role=tab]")];
const refresh = {
  keys: keys.refresh, changes: views.changes, conflicts: views.conflicts, peers: views.peers,
  merge: views.merge, doctor: views.doctor,
};
export const view = () => tabs.find((tab) => tab.ariaSelected === "true").getAttribute("aria-controls");

export function show(name, focuses = false) {
  say("");
  for (const tab of tabs) {
    const id = tab.getAttribute("aria-controls");
    tab.ariaSelected = String(id === name);
    tab.tabIndex = id === name ? 0 : -1;
    $(id).hidden = id !== name;
    if (id === name) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (focuses && id === name) tab.focus();
  }
  history.replaceState(null, "", "#" + name);
  attempt(refresh[name]);
}

$("tabs").addEventListener("click", (event) => {
  const tab = event.target.closest("[role=tab]");
  if (tab) show(tab.getAttribute("aria-controls"));
});
$("tabs").addEventListener("keydown", (event) => {
  const here = tabs.indexOf(document.activeElement);
  const place = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: -1 }[event.key];
  if (place === undefined) return;
  show(tabs.at(place % tabs.length).getAttribute("aria-controls"), true);
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) return;
  show("keys");
  $("query").focus();
  event.preventDefault();
});

// State

export async function load() {
  page.state = await get("state");
  if (isNews("device", page.state.devices.map((device) => device.path))) {
    $("device").replaceChildren(...page.state.devices.map((device, place) => el("option", { value: place }, seen(device.path))));
    $("device").value = page.device;
  }
  $("mode").textContent = page.state.edit ? "editing" : "read-only";
  $("new").hidden = !page.state.edit;
  keys.stores();
}

$("device").addEventListener("change", () => attempt(async () => {
  if (!keys.mayLeave()) {
    $("device").value = page.device;
    return;
  }
  page.device = Number($("device").value);
  keys.close();
  await load();
  await Promise.all([growth(), refresh[view()]()]);
}));

/** Reads everything that is shown once more. */
export async function renew() {
  await load();
  await Promise.all([refresh[view()](), growth(), keys.detail()]);
}

let number = null;
let timer = null;
const soon = () => {
  if (timer === null) timer = setTimeout(() => { timer = null; attempt(renew); }, 150);
};

let events = null;

function listen() {
  events?.close();
  events = new EventSource("/api/events");
  events.onerror = () => { $("live").textContent = "not connected"; };
  events.onmessage = (message) => {
    const event = JSON.parse(message.data);
    // The first message arrives at once, unless a proxy buffers it.
    $("live").textContent = current().watches ? "live" : "not live: the folder is read-only";
    // At first, and after a gap: this page may have missed a commit.
    if (number === null || event.number !== number + 1) soon();
    number = event.number;
    if (event.problem) say(`${event.problem.problem}; ${event.problem.cure}`, true);
    if (event.changes) {
      page.changes.unshift({ ...event, at: new Date() });
      page.changes.length = Math.min(page.changes.length, 200);
      if (event.device === page.device) keys.fresh(event.changes);
    }
    if (event.device !== undefined) soon();
  };
}

// A browser has six connections for all tabs of a page: a hidden tab closes its own.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) listen();
  else events?.close();
});

attempt(async () => {
  await load();
  const wanted = location.hash.slice(1);
  show(refresh[wanted] ? wanted : "keys");
  listen();
  await growth();
});

// SPDX-License-Identifier: Apache-2.0
// The list of keys, of which only the visible rows are in the page, and one key with its layers.

import { renew } from "./page.js";
import {
  $, attempt, brief, by, current, el, get, isContainer, isNews, most, page, post, say, seen, shown, text, time,
} from "./shared.js";

const size = 100;
const list = $("list");
let pages = new Map();
let total = 0;
let chosen = -1;
let open = null;
let search = new AbortController();
let latest = new Set();
const name = (row) => JSON.stringify([row.store, row.key]);
const height = () => parseFloat(getComputedStyle(list).getPropertyValue("--row"));

export function stores() {
  if (!isNews("store", page.device, current().stores)) return;
  const before = $("store").value;
  const options = current().stores.map((store) =>
    el("option", { value: store.name }, seen(store.name), ` (${store.keys.toLocaleString()}${store.syncs ? ", syncs" : ""})`));
  $("store").replaceChildren(el("option", { value: "" }, "all"), ...options);
  $("store").value = before;
  if ($("store").selectedIndex < 0) $("store").value = "";
}

function query(first) {
  const result = { query: $("query").value, order: $("order").value, first, count: size };
  if ($("store").value) result.store = $("store").value;
  return result;
}

/** Reads what is in sight again; what was there stays until then. */
export async function refresh() {
  search.abort();
  search = new AbortController();
  const signal = search.signal;
  const fresh = new Map();
  for (const number of inSight()) {
    const answer = await get("keys", query(number * size), signal);
    total = answer.total;
    fresh.set(number, answer.rows);
  }
  pages = fresh;
  $("count").value = `${total.toLocaleString()} ${total === 1 ? "key" : "keys"}`;
  list.ariaRowCount = total;
  draw();
}

function range() {
  const first = Math.max(0, Math.floor(list.scrollTop / height()) - 5);
  return [first, first + Math.ceil(list.clientHeight / height()) + 10];
}

function inSight() {
  const [first, last] = range();
  const numbers = [];
  for (let number = Math.floor(first / size); number * size < Math.max(last, 1); number++) {
    if (number === 0 || number * size < total) numbers.push(number);
  }
  return numbers.length ? numbers : [0];
}

function draw() {
  $("rows").style.height = `${total * height()}px`;
  const [first, last] = range();
  const rows = [];
  for (let place = first; place < Math.min(last, total); place++) {
    const row = pages.get(Math.floor(place / size))?.[place % size];
    rows.push(line(place, row));
  }
  $("rows").replaceChildren(...rows);
  $("none").hidden = total > 0;
  list.setAttribute("aria-activedescendant", chosen >= 0 ? `row-${chosen}` : "");
  latest = new Set();
}

function line(place, row) {
  const cell = (kind, ...children) => el("span", { class: kind, role: "gridcell" }, ...children);
  const isFresh = row && latest.has(name(row));
  const element = el("div", {
    class: isFresh ? "row fresh" : "row", role: "row", id: `row-${place}`, "aria-rowindex": place + 1,
    "aria-selected": String(place === chosen), onclick: () => choose(place, true),
  });
  element.style.top = `${place * height()}px`;
  if (!row) return element;
  element.append(
    cell("key", seen(row.key), " ", el("span", { class: "store" }, seen(row.store))), cell("type", row.type),
    cell("value", shown(row)), cell("when", row.seeded ? "default" : time(row.modified, true)),
    cell("by", row.seeded ? "" : by(row.origin)));
  return element;
}

list.addEventListener("scroll", () => attempt(async () => {
  draw();
  const missing = inSight().filter((number) => !pages.has(number));
  for (const number of missing) {
    const answer = await get("keys", query(number * size), search.signal);
    pages.set(number, answer.rows);
  }
  if (missing.length) draw();
}));

function choose(place, opens) {
  if (total === 0) return;
  chosen = Math.min(Math.max(place, 0), total - 1);
  const top = chosen * height();
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + height() > list.scrollTop + list.clientHeight) list.scrollTop = top + height() - list.clientHeight;
  draw();
  const row = pages.get(Math.floor(chosen / size))?.[chosen % size];
  if (opens && row) attempt(() => enter(row));
}

list.addEventListener("keydown", (event) => {
  const screen = Math.floor(list.clientHeight / height()) - 1;
  const place = {
    ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: chosen + screen, PageUp: chosen - screen,
    Home: 0, End: total - 1,
  }[event.key];
  if (event.key === "Enter") choose(chosen, true);
  else if (place === undefined) return;
  else choose(place, false);
  event.preventDefault();
});

function changed() {
  chosen = -1;
  list.scrollTop = 0;
  attempt(refresh);
}
$("search").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["query", "store", "order"]) $(id).addEventListener("input", changed);
new ResizeObserver(() => page.state && attempt(refresh)).observe(list);

export const fresh = (changes) => { for (const change of changes) latest.add(name(change)); };

// One key

// Whether the form has something that is not saved.
let isEdited = false;
$("detail").addEventListener("input", () => { isEdited = true; });

/** Says so where the form would be lost. */
export function mayLeave() {
  if (isEdited) say("What you wrote is not saved; save it, or drop it by Close", true);
  return !isEdited;
}

async function enter(row) {
  if (!mayLeave()) return;
  open = { store: row.store, key: row.key };
  await detail();
  $("detail").focus();
}

export function close() {
  open = null;
  isEdited = false;
  $("detail").hidden = true;
  document.body.classList.remove("has-detail");
}

export async function detail() {
  if (!open) return;
  const { store, key } = open;
  const report = await get("key", { store, key });
  if (open?.key !== key || open.store !== store) return;
  const [before, now] = [open.shown, JSON.stringify(report)];
  if (before === now) return;
  open.shown = now;
  const value = report.value;
  const parts = [
    back(), el("h2", {}, seen(key)), el("p", { class: "store" }, "in ", seen(store), value ? `, ${value.type}` : ", no value"),
  ];
  if (value) parts.push(el("pre", { tabindex: 0, id: "value", "aria-label": "Value" }, seen(text(value), true)));
  parts.push(el("h3", {}, "Layers, the first that has a value wins"), layers(report));
  if (report.conflicts.length) {
    parts.push(el("p", {}, `${report.conflicts.length} lost: see Conflicts`));
  }
  const view = el("div", {}, ...parts);
  if (isEdited && before) {
    $("detail").firstChild.replaceWith(view);
    tellElsewhere(stampOf(report));
    return;
  }
  const isFocused = document.activeElement?.id === "edit-value";
  reveal([view, page.state.edit ? form(store, key, report) : null]);
  if (isFocused) $("edit-value")?.focus();
}

/** Who writes into the form goes on, and decides. */
function tellElsewhere(stamp) {
  const form = $("detail").querySelector("form");
  if (!form || form.dataset.stamp === stamp) return;
  const keep = () => {
    form.dataset.stamp = stamp;
    $("elsewhere").replaceChildren("Save replaces what stands above.");
  };
  $("elsewhere").replaceChildren("The value has changed elsewhere, to what stands above. ",
    el("button", { type: "button", id: "keep", onclick: keep }, "Keep what I wrote"));
}

function reveal(parts) {
  isEdited = false;
  $("detail").replaceChildren(...parts.filter((part) => part));
  $("detail").hidden = false;
  document.body.classList.add("has-detail");
}

function leave() {
  close();
  list.focus();
}
const back = () => el("button", { type: "button", class: "back", onclick: leave }, "Close");
$("detail").addEventListener("keydown", (event) => {
  if (event.key === "Escape" && mayLeave()) leave();
});

function layers(report) {
  const rows = [
    ...report.layers.map((layer) => [layer.layer, layer]),
  ].map(([kind, layer]) => el("tr", {},
    el("td", {}, kind),
    el("td", {}, layer.deleted ? el("em", {}, "deleted") : brief(layer.text)),
    el("td", {}, layer.source ? seen(layer.source) : time(layer.modified, true)),
    el("td", {}, layer.bundle ? seen(layer.bundle) : by(layer.origin))));
  return el("div", { class: "wide" }, el("table", {}, el("tr", {},
    ...["Layer", "Value", "When", "By"].map((title) => el("th", { scope: "col" }, title))), ...rows));
}

// Editing

const types = ["string", "integer", "real", "boolean", "date", "data", "json"];
const typeOf = (value) => isContainer(value) ? "json" : value?.type ?? "string";

/** Of what was set; nothing of what was not. */
const stampOf = (report) => {
  const entry = report.layers.find((layer) => layer.layer === "entry" && !layer.deleted);
  return entry ? `${entry.timestamp} ${entry.origin}` : "";
};

function form(store, key, report) {
  const stamp = stampOf(report);
  if (report.value?.type === "opaque") {
    return el("p", {}, "A newer version wrote this value; it can be deleted here, and not be edited. ", remove(store, key, stamp));
  }
  const old = report.value ? text(report.value) : "";
  const area = el("textarea", { id: "edit-value", spellcheck: "false", "aria-label": "New value" });
  area.value = old;
  // If nothing was changed, the original text is sent: so the value is the very same.
  const isAsItCame = () => area.value === old && report.value && type.value === typeOf(report.value);
  const written = () => isAsItCame() ? report.value.text : area.value;
  const isWhole = area.value === old && old.length < most;
  const type = chooser(typeOf(report.value));
  const note = el("p", { role: "status", class: "store" });
  type.addEventListener("input", () => {
    note.textContent = type.value === typeOf(report.value) ? ""
      : `It was ${report.value?.type ?? "nothing"}: an application that expects that cannot read it any more.`;
  });
  if (!isWhole) {
    return el("p", {}, "This value has characters that a form would change; edit it with kvsync set. ", remove(store, key, stamp));
  }
  const submit = (event) => {
    event.preventDefault();
    save(store, key, type.value, written(), event.currentTarget.dataset.stamp);
  };
  return el("form", { class: "edit", "data-stamp": stamp, onsubmit: submit },
    el("h3", {}, "Edit"), el("p", { role: "status", id: "elsewhere" }), area, note,
    el("div", { class: "line" }, el("label", {}, "Type ", type), el("button", { class: "main", id: "save" }, "Save"),
      stamp ? remove(store, key, stamp) : null));
}

const chooser = (chosen) => el("select", { id: "edit-type" },
  ...types.map((type) => el("option", { value: type, selected: type === chosen }, type)));

const remove = (store, key, stamp) => el("button", {
  type: "button", id: "delete",
  onclick: () => attempt(async () => {
    await post("delete", { store, key, stamp });
    isEdited = false;
    say(`Deleted ${store}/${key}; Changes has its old value`);
    $("detail").focus();
    await renew();
  }),
}, "Delete");

const save = (store, key, type, value, stamp) => attempt(async () => {
  await post("set", { store, key, type, value, stamp });
  say(`Saved ${store}/${key}`);
  isEdited = false;
  open = { store, key };
  $("detail").focus();
  await renew();
});

$("new").addEventListener("click", () => {
  if (!mayLeave()) return;
  open = null;
  const store = el("input", { id: "new-store", value: $("store").value || "cloud", required: true });
  const key = el("input", { id: "new-key", required: true, autocomplete: "off" });
  const type = chooser("string");
  const area = el("textarea", { id: "edit-value", spellcheck: "false" });
  reveal([back(), el("h2", {}, "New key"),
    el("form", { class: "edit", onsubmit: (event) => { event.preventDefault(); save(store.value, key.value, type.value, area.value, ""); } },
      ...[["Store", store], ["Key", key], ["Value", area]].map(([title, field]) => el("label", {}, el("span", {}, title), field)),
      el("div", { class: "line" }, el("label", {}, "Type ", type), el("button", { class: "main", id: "save" }, "Save")))]);
  key.focus();
});

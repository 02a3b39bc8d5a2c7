// SPDX-License-Identifier: Apache-2.0
// The elements, texts and requests that all views share.
// Values are text: they reach the page by text nodes alone.

export const $ = (id) => document.getElementById(id);
export const page = { state: null, device: 0, changes: [] };
export const current = () => page.state.devices[page.device];

/** An element with attributes, listeners (on…) and children; a string becomes a text node. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

// Control characters, what turns the direction of text, and what is invisible. What joins letters stays.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const split = /([\p{Cc}\p{Cf}\p{Zl}\p{Zp}])/u;

/** A text with what cannot be seen as an escape. */
export function seen(text, keepsLines = false) {
  const result = document.createDocumentFragment();
  if (!unseen.test(text)) { result.append(text); return result; }
  for (const part of text.split(split)) {
    const isKept = (keepsLines && /^[\n\t]$/.test(part)) || /^[\u200c\u200d]$/.test(part);
    if (part.length > 2 || isKept || !unseen.test(part)) result.append(part);
    else result.append(el("span", { class: "escape" }, "\\u{" + part.codePointAt(0).toString(16) + "}"));
  }
  return result;
}

export function time(value, isBrief = false) {
  if (value == null) return "";
  const date = new Date(value);
  if (isNaN(date)) return String(value);
  const isToday = date.toDateString() === new Date().toDateString();
  const text = !isBrief ? date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
    : isToday ? date.toLocaleTimeString(undefined, { timeStyle: "short" })
      : date.toLocaleDateString(undefined, { dateStyle: "medium" });
  return el("time", { datetime: date.toISOString(), title: date.toISOString() }, text);
}

export const by = (origin) => el("span", { class: "who" }, origin === current().replica ? "this device" : origin.slice(0, 8));

/** What a list shows of a value. */
export function shown(content) {
  if (!content || content.deleted) return el("em", {}, "deleted");
  if (content.text === undefined) return el("em", {}, "not known any more");
  return el("span", { class: "value" }, seen(content.text),
    content.length > new TextEncoder().encode(content.text).length
      ? ` … (${content.length.toLocaleString()} bytes)` : "");
}

/** The beginning of a value, for a cell of a table. */
export const brief = (text) => el("span", { class: "value" }, seen(text.length > 300 ? text.slice(0, 300) + " …" : text));

export const isContainer = (value) => ["array", "dictionary"].includes(value?.type);

// The maximum length of a value that the page shows.
export const most = 4_000_000;

/** All of a value, containers on lines of their own. */
export function text(value) {
  const all = isContainer(value) ? lines(value.text) : value.text;
  return all.length > most ? all.slice(0, most) + `\n… kvsync get shows all ${all.length} characters` : all;
}

/** JSON with lines and spaces; all else stays, as numbers that JavaScript would round. */
function lines(json) {
  let [depth, isQuoted] = [0, false];
  const line = (step) => "\n" + "  ".repeat(depth += step);
  return json.replace(/\\.|\{\}|\[\]|["{}[\],:]/g, (token) => {
    if (token === '"') isQuoted = !isQuoted;
    if (isQuoted || token === '"' || token.length > 1) return token;
    if (token === ":") return ": ";
    if (token === ",") return "," + line(0);
    return "{[".includes(token) ? token + line(1) : line(-1) + token;
  });
}

export function say(text, isBad = false) {
  $("message").replaceChildren(text);
  $("message").className = isBad ? "bad" : "";
}

async function ask(path, options) {
  let response;
  try { response = await fetch(`/api/${path}`, options); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("kvsync open does not answer; if it has ended, run it again, and use the address that it prints");
  }
  const json = await response.json();
  if (response.ok) return json;
  throw new Error(`${json.problem}; ${json.cure}`);
}

export async function get(path, query = {}, signal) {
  const all = new URLSearchParams({ device: page.device, ...query });
  // Spaces are sent as %20: the server reads + as a plus.
  return ask(`${path}?${all.toString().replaceAll("+", "%20")}`, { signal });
}

export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify({ device: page.device, ...body }) });
}

/** Whether something is not what it was when it was last drawn: what is drawn anew loses the focus. */
export function isNews(id, ...parts) {
  const news = JSON.stringify(parts);
  if ($(id).shown === news) return false;
  $(id).shown = news;
  return true;
}

/** Does something, and says what goes wrong. */
export async function attempt(work) {
  try { return await work(); } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

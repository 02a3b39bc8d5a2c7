// SPDX-License-Identifier: Apache-2.0
// A chart of when the keys were last written.

import { $, el, get, time } from "./shared.js";

const svg = (name, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

export async function growth() {
  const { start, end, counts, bytes } = await get("growth");
  const top = Math.max(1, ...counts);
  const sum = counts.reduce((a, b) => a + b, 0);
  const label = `Last writes over time, the most at once ${top}; the line is how many keys there are by then, ${sum} in the end`;
  const plot = svg("svg", { viewBox: "0 0 120 30", preserveAspectRatio: "none", role: "img", "aria-label": label });
  let before = 0;
  const points = ["0,30"];
  counts.forEach((count, place) => {
    const high = count ? Math.max(1, (count / top) * 28) : 0;
    plot.append(svg("rect", { class: "bar", x: place * 2 + .2, y: 30 - high, width: 1.6, height: high }));
    before += count;
    points.push(`${place * 2 + 2},${30 - (before / Math.max(sum, 1)) * 28}`);
  });
  plot.append(svg("polyline", { class: "sum", points: points.join(" ") }));
  $("growth").replaceChildren(plot, el("figcaption", {}, el("span", {}, time(start, true)),
    el("span", {}, `last writes, and keys by then${bytes == null ? "" : `; the file has ${Math.ceil(bytes / 1024).toLocaleString()} KiB`}`),
    el("span", {}, time(end, true))));
}

// A picture of an answer: bars, a line or points, drawn as SVG.
"use strict";

const PICTURES = { bar: "Bars", line: "Line", scatter: "Scatter" };
// At most this many bars and points.
const MOST_BARS = 40, MOST_POINTS = 2000;

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Round numbers between two values, about `count` of them, in the unit that the axis shows.
function ticksOf(least, most, count) {
  const rough = (most - least) / count || Math.abs(most) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let n = Math.ceil(least / step - 1e-9); n * step <= most + step * 1e-9; n += 1) found.push(n * step);
  return found;
}

function shortened(text, most) {
  if (text.length <= most) return text;
  const end = Math.floor(most / 2);
  return `${text.slice(0, most - end - 1)}…${text.slice(-end)}`;
}

// Values from the least to the most, from pixel a to pixel b.
function scaleOf(values, unit, [a, b], isFromZero) {
  const [size, word] = scale(unit, largest(values));
  const numbers = values.filter((value) => value !== null);
  let [least, most] = [Infinity, -Infinity];
  for (const value of numbers) { least = Math.min(least, value); most = Math.max(most, value); }
  if (isFromZero || (least > 0 && least < 0.5 * most)) least = Math.min(least, 0);
  if (isFromZero) most = Math.max(most, 0);
  if (least === most) [least, most] = least === 0 ? [0, 1] : [Math.min(0, least), Math.max(0, most)];
  const at = (value) => a + ((value - least) * (b - a)) / (most - least);
  const ticks = ticksOf(least / size, most / size, Math.max(2, Math.abs(b - a) / 80)).map((value) =>
    ({ at: at(value * size), text: value.toLocaleString("en", { maximumSignificantDigits: 4 }) }));
  return { at, ticks, word, zero: at(Math.max(least, Math.min(0, most))) };
}

function axisTitle(part, word) {
  return word ? `${title(part)}, ${word}` : title(part);
}

function bars(x, y, rows, width) {
  const names = rows.map((row) => shown(x.values[row], x.unit));
  const left = Math.min(260, 0.38 * width);
  const letters = Math.floor(left / 7);
  const [line, top] = [22, 8];
  const height = top + line * rows.length + 44;
  const along = scaleOf(rows.map((row) => y.values[row]), y.unit, [left, width - 70], true);
  const bottom = top + line * rows.length;
  const marks = along.ticks.flatMap(({ at, text }) => [
    svg("line", { class: "grid", x1: at, x2: at, y1: top, y2: bottom }),
    svg("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, text)]);
  rows.forEach((row, n) => {
    const value = y.values[row];
    const label = `${names[n]}: ${shown(value, y.unit)}`;
    const end = value === null ? along.zero : along.at(value);
    marks.push(svg("g", {}, svg("title", {}, label),
      svg("text", { x: left - 6, y: top + n * line + 15, "text-anchor": "end" }, shortened(names[n], letters)),
      svg("rect", { class: "mark", x: Math.min(along.zero, end), y: top + n * line + 3, height: line - 6, width: Math.abs(end - along.zero) }),
      svg("text", { class: "soft", x: Math.max(along.zero, end) + 4, y: top + n * line + 15 }, shown(value, y.unit))));
  });
  marks.push(svg("text", { x: (left + width - 70) / 2, y: bottom + 36, "text-anchor": "middle" }, axisTitle(y, along.word)));
  return { marks, height };
}

function points(x, y, rows, width, isLine) {
  const height = 340;
  const box = { left: 64, right: width - 16, top: 24, bottom: height - 44 };
  const isNumeric = x.numeric;
  const places = rows.map((row, n) => (isNumeric ? x.values[row] : n));
  const across = scaleOf(places, isNumeric ? x.unit : "-", [box.left, box.right], false);
  const up = scaleOf(rows.map((row) => y.values[row]), y.unit, [box.bottom, box.top], false);
  const marks = up.ticks.flatMap(({ at, text }) => [
    svg("line", { class: "grid", x1: box.left, x2: box.right, y1: at, y2: at }),
    svg("text", { x: box.left - 6, y: at + 4, "text-anchor": "end" }, text)]);
  const named = isNumeric ? across.ticks
    : rows.map((row, n) => ({ at: across.at(n), text: shortened(shown(x.values[row], x.unit), 14) }))
      .filter((_, n) => n % Math.ceil((100 * rows.length) / (box.right - box.left)) === 0);
  marks.push(...named.map(({ at, text }) => svg("text", { x: at, y: box.bottom + 16, "text-anchor": "middle" }, text)));
  const known = rows.map((row, n) => ({ row, place: places[n], value: y.values[row] }))
    .filter(({ place, value }) => place !== null && value !== null);
  if (isLine) {
    if (isNumeric) known.sort((a, b) => a.place - b.place);
    marks.push(svg("polyline", { class: "mark", points: known.map(({ place, value }) => `${across.at(place)},${up.at(value)}`).join(" ") }));
  }
  if (!isLine || known.length <= 100) {
    marks.push(...known.map(({ row, place, value }) => svg("circle", { class: "mark", cx: across.at(place), cy: up.at(value), r: 3 },
      svg("title", {}, `${shown(x.values[row], x.unit)}: ${shown(value, y.unit)}`))));
  }
  marks.push(svg("text", { x: box.left - 52, y: 14 }, axisTitle(y, up.word)),
    svg("text", { x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle" }, axisTitle(x, isNumeric ? across.word : "")));
  return { marks, height };
}

// Shows choosers and the picture of an answer, and keeps it as wide as its place.
function showPicture(holder, panel) {
  const all = panel.columns.map(({ name }) => column(panel, name));
  const numeric = all.filter((part) => part.numeric && part.values.some((value) => value !== null));
  holder.replaceChildren();
  if (!numeric.length) {
    holder.append(element("p", { className: "said", textContent: "The answer has no column of numbers." }));
    return;
  }
  const text = all.find((part) => !part.numeric && new Set(part.values).size > 1);
  const chosen = { kind: text ? "bar" : "line", x: (text ?? all[0]).name, y: (numeric.find(({ name }) => name !== (text ?? all[0]).name) ?? numeric[0]).name };
  const place = element("div");
  const redraw = () => {
    const [x, y] = [chosen.x, chosen.y].map((name) => all.find((part) => part.name === name));
    const most = chosen.kind === "bar" ? MOST_BARS : MOST_POINTS;
    const rows = Array.from({ length: Math.min(panel.rows, most) }, (_, row) => row);
    const width = Math.max(place.clientWidth, 240);
    const { marks, height } = chosen.kind === "bar" ? bars(x, y, rows, width) : points(x, y, rows, width, chosen.kind === "line");
    const label = `${title(y)} by ${title(x)}`;
    const cut = rows.length < panel.rows ? `, the first ${number.format(rows.length)} of ${number.format(panel.rows)} rows` : "";
    place.replaceChildren(element("h3", { textContent: label + cut }),
      svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label + cut, class: "drawn" }, ...marks));
  };
  const choice = (label, key, values, names) => {
    const made = picker(label, values, names, (value) => { chosen[key] = value; redraw(); });
    Object.assign(made.querySelector("select"), { value: chosen[key], ariaLabel: label });
    return made;
  };
  holder.append(element("div", { className: "controls" },
    choice("Picture", "kind", Object.keys(PICTURES), Object.values(PICTURES)),
    choice("X", "x", all.map(({ name }) => name), all.map(({ name }) => name)),
    choice("Y", "y", numeric.map(({ name }) => name), numeric.map(({ name }) => name))), place);
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    redraw();
  }).observe(place);
}

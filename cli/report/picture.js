// A picture of an answer: bars, a line or points, as a Vega-Lite specification.
"use strict";

const PICTURES = { bar: "Bars", line: "Line", scatter: "Scatter" };
// At most this many bars and points.
const MOST_BARS = 40, MOST_POINTS = 2000;
// Colors that differ for every reader, in both themes, and therefore as many groups at most.
const GROUPS = ["#2f84c6", "#d55e00", "#2c9c72", "#b8862b", "#d6417b", "#4fa3c7", "#8a5cd1", "#7b8496"];

// A column as an axis shows it: numbers in the unit of the largest, times as dates, and other values by row.
function axisOf(part) {
  const isTime = part.unit === "ns" && part.numeric && largest(part.values) > Number(EPOCH[0]);
  const inUnit = (size) => (row) => (part.values[row] === null ? null : part.values[row] / size);
  if (isTime) return { type: "temporal", scale: { type: "utc" }, title: title(part), valueOf: inUnit(1e6) };
  if (part.numeric) {
    const [size, word] = scale(part.unit, largest(part.values));
    return { type: "quantitative", title: word && word !== "%" ? `${title(part)}, ${word}` : title(part),
      valueOf: inUnit(size) };
  }
  return { type: "ordinal", title: title(part), valueOf: (row) => row };
}

// The encoding of an axis, given the place of its values: x is at the bottom, y at the left.
function encoded(axis, field, place, names) {
  const { type, title: text } = axis;
  if (type !== "ordinal") {
    return { field, type, title: text, scale: axis.scale ?? { zero: axis.isFromZero ?? false },
      axis: { tickCount: place === "x" ? { expr: "max(2, floor(width / 110))" } : 6 } };
  }
  const labels = place === "x" ? { labelAngle: -40, labelOverlap: true, labelLimit: 160 } : { labelLimit: 420, ticks: false, domain: false };
  return { field, type, sort: null, title: text,
    axis: { ...labels, labelExpr: `truncate(${JSON.stringify(names)}[datum.value], letters, 'center')` } };
}

// The specification of a picture, and its rows.
function pictured({ kind, x, y, group }, count) {
  const isBar = kind === "bar";
  const places = isBar ? { ...axisOf({ ...x, numeric: false }), title: null } : axisOf(x);
  const sizes = { ...axisOf(y), isFromZero: isBar };
  const names = Array.from({ length: count }, (_, row) => shown(x.values[row], x.unit));
  const rows = names.map((name, row) => ({ name, x: places.valueOf(row), y: sizes.valueOf(row),
    said: shown(y.values[row], y.unit), group: group && shown(group.values[row], group.unit) }));
  const [across, up] = isBar ? [encoded(sizes, "y", "x"), encoded(places, "x", "y", names)]
    : [encoded(places, "x", "x", names), encoded(sizes, "y", "y")];
  const tooltip = [{ field: "name", title: title(x) }, { field: "said", title: title(y) },
    ...(group ? [{ field: "group", title: title(group) }] : [])];
  const mark = { bar: { type: "bar" }, line: { type: "line", point: count <= 100 }, scatter: { type: "point", filled: true, size: 40 } }[kind];
  const color = group ? { field: "group", type: "nominal", sort: null, scale: { range: GROUPS },
    legend: { title: title(group), orient: "top" } } : { value: GROUPS[0] };
  return { rows, specification: {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    data: { name: "rows" },
    autosize: { type: "fit-x", contains: "padding" },
    params: [{ name: "letters", value: 44 }],
    height: isBar ? { step: 22 } : 320,
    transform: [{ filter: "isValid(datum.x) && isValid(datum.y)" }],
    mark: { ...mark, tooltip: true },
    encoding: { x: across, y: up, color, tooltip },
  } };
}

// Shows choosers and the picture of an answer.
async function showPicture(holder, panel) {
  const all = panel.columns.map(({ name }) => column(panel, name));
  const numeric = all.filter((part) => part.numeric && part.values.some((value) => value !== null));
  holder.replaceChildren();
  if (!numeric.length) {
    holder.append(element("p", { className: "said", textContent: "The answer has no column of numbers." }));
    return;
  }
  const different = (part) => new Set(part.values).size;
  const text = all.find((part) => !part.numeric && different(part) > 1);
  const first = text ?? all.find((part) => different(part) > 1) ?? all[0];
  const others = numeric.filter((part) => part !== first);
  const chosen = { kind: text ? "bar" : "line", x: first, group: null,
    y: others.find(({ unit }) => unit in SCALES) ?? others[0] ?? numeric[0] };
  const specification = {};
  const heading = element("h2");
  const place = element("div");
  let made = null;
  let rows = [];
  const update = () => {
    const count = Math.min(panel.rows, chosen.kind === "bar" ? MOST_BARS : MOST_POINTS);
    const found = pictured(chosen, count);
    rows = found.rows;
    const cut = count < panel.rows ? `, the first ${number.format(count)} of ${number.format(panel.rows)} rows` : "";
    heading.textContent = `${title(chosen.y)} by ${title(chosen.x)}${cut}`;
    Object.assign(specification, found.specification, { description: heading.textContent });
    return made?.draw();
  };
  const choice = (label, key, values, names) => {
    const made = picker(label, values.map((_, n) => n), names, (n) => { chosen[key] = values[n]; update(); });
    Object.assign(made.querySelector("select"), { value: values.indexOf(chosen[key]), ariaLabel: label });
    return made;
  };
  const groups = all.filter((part) => different(part) > 1 && different(part) <= GROUPS.length);
  holder.append(element("div", { className: "controls" },
    choice("Picture", "kind", Object.keys(PICTURES), Object.values(PICTURES)),
    choice("X", "x", all, all.map(({ name }) => name)),
    choice("Y", "y", numeric, numeric.map(({ name }) => name)),
    ...(groups.length ? [choice("Color", "group", [null, ...groups], ["none", ...groups.map(({ name }) => name)])] : [])),
  heading, place);
  update();
  made = await chart(place, specification, () => rows, heading.textContent);
}

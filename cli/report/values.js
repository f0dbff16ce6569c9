// Values as people read them, each figure with its unit, and elements that show them.
"use strict";

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

const SCALES = {
  us: [[1e6, "s"], [1e3, "ms"], [1, "µs"]],
  ms: [[1e3, "s"], [1, "ms"]],
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};

// A number of ns beyond this is a moment, not a length: it is the year 1973.
const EPOCH = 1e17;

function scale(unit, largest) {
  const scales = SCALES[unit];
  if (!scales) return [1, unit === "pct" ? "%" : ""];
  return scales.find(([size]) => Math.abs(largest) >= size) ?? scales.at(-1);
}

function shown(value, unit) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return Array.isArray(value) ? value.join(" × ") : String(value);
  if (unit === "ns" && value > EPOCH) return new Date(value / 1e6).toISOString();
  const [size, word] = scale(unit, value);
  const digits = Math.abs(value / size) >= 100 ? 1 : 3;
  const text = (value / size).toLocaleString("en", { maximumFractionDigits: digits });
  return word ? `${text} ${word}` : text;
}

function title(column) {
  const bare = column.unit in SCALES || column.unit === "pct"
    ? column.name.replace(/_(us|ms|ns|bytes|pct)$/, "") : column.name;
  return bare.replaceAll("_", " ") + (column.unit === "pct" ? " %" : "");
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function picker(label, values, names, onChange) {
  const select = element("select", { onchange: () => onChange(select.value) });
  values.forEach((value, n) => select.append(element("option", { value, textContent: names[n] })));
  return element("label", { className: "picker" }, `${label} `, select);
}

function column(panel, name) {
  const position = panel.columns.findIndex((known) => known.name === name);
  return position < 0 ? null : { ...panel.columns[position], values: panel.values[position] };
}

function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value ?? 0)), 0);
}

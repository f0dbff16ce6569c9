// Formats values with their units, and creates elements that show them.
"use strict";

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

const SCALES = {
  us: [[1e6, "s"], [1e3, "ms"], [1, "µs"]],
  ms: [[1e3, "s"], [1, "ms"]],
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};

// Numbers of ns in this range are times since 1970, not durations: the years 1973 to 2262.
const EPOCH = [10n ** 17n, 2n ** 63n];

// In columns of numbers, integers too large for a JavaScript number, decimals, NaN and infinities arrive
// as text.
const INTEGER = /^-?\d+$/;
const WORDS = { inf: Infinity, "-inf": -Infinity, nan: NaN };

function amount(value) {
  if (typeof value !== "string") return value;
  return INTEGER.test(value) ? BigInt(value) : WORDS[value] ?? Number(value);
}

function scale(unit, largest) {
  const scales = SCALES[unit];
  if (!scales) return [1, unit === "pct" ? "%" : ""];
  return scales.find(([size]) => Math.abs(largest) >= size) ?? scales.at(-1);
}

// With `brief` a value with a unit has three significant digits.
function shown(value, unit, brief = false) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "bigint") return large(value, unit);
  if (typeof value !== "number") return Array.isArray(value) ? value.join(" × ") : String(value);
  const [size, word] = scale(unit, value);
  const scaled = value / size;
  const length = Math.abs(scaled);
  const digits = brief && word ? (length >= 100 ? 0 : length >= 10 ? 1 : 2) : length >= 100 ? 1 : 3;
  // What is not 0 must not look like 0: a small p-value says much.
  const text = scaled !== 0 && length < 0.5 * 10 ** -digits ? String(Number(scaled.toPrecision(2)))
    : scaled.toLocaleString("en", { maximumFractionDigits: digits });
  return word ? `${text} ${word}` : text;
}

// Formats an integer too large for a number; a time since 1970 keeps all its digits.
function large(value, unit) {
  if (unit === "ns" && value > EPOCH[0] && value < EPOCH[1]) {
    const second = new Date(Number(value / 1000000n)).toISOString().slice(0, 19);
    return `${second}.${String(value % 1000000000n).padStart(9, "0")}Z`;
  }
  return unit in SCALES ? shown(Number(value), unit) : value.toLocaleString("en");
}

function title(column) {
  const bare = column.unit in SCALES || column.unit === "pct"
    ? column.name.replace(/(_(us|ms|ns|bytes))?(_pct)?$/, "") : column.name;
  return bare.replaceAll("_", " ") + (column.unit === "pct" ? " %" : "");
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Lets keys scroll a place whose content is too wide or too high.
function scrollable(box, label) {
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  return box;
}

function picker(label, values, names, onChange) {
  const select = element("select", { onchange: () => onChange(select.value) });
  values.forEach((value, n) => select.append(element("option", { value, textContent: names[n] })));
  return element("label", { className: "picker" }, `${label} `, select);
}

function column(panel, name) {
  const position = panel.columns.findIndex((known) => known.name === name);
  if (position < 0) return null;
  const known = panel.columns[position];
  const values = panel.values[position];
  // A chart needs numbers and cannot show NaN.
  const numbers = () => values.map((value) => (value === null ? null : Number(amount(value)) || 0));
  return { ...known, values: known.numeric ? numbers() : values };
}

function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(Number(amount(value ?? 0))) || 0), 0);
}

function exactTime(ns) {
  return shown(ns, "ns");
}

function significant(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 100 ? 3 : 2 });
}

// As the function as_digits of the views has it: 14.8 ms in a sentence is not 15 ms beside it.
function asDigits(value) {
  const length = Math.abs(value);
  const decimals = length >= 19.95 ? 0 : 1;
  if (value === 0 || length < 0.995) return String(Number(value.toPrecision(2)));
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

// Shortens a long name in the middle, where what is left still differs.
function shortened(name, most) {
  return name.length <= most ? name : `${name.slice(0, Math.ceil(most * 0.6))}…${name.slice(-Math.floor(most * 0.35))}`;
}

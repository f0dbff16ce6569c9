// Shows the rows of a panel as a table with sorting, search and filters.
"use strict";

// Tables with at most this many rows have no search.
const FEW = 8;
// Of a table with more rows than this, the page holds only the rows on the screen.
const MANY = 200;
const HEIGHT = 420;
const tables = new Map(); // panel -> its table, of which another panel may filter the rows

// A filter for numbers uses the unit of the column's largest value.
function least(column) {
  const word = scale(column.unit, largest(column.values))[1];
  return word ? `at least, ${word}` : "at least";
}

// What a search looks into: numbers with all digits, and all else as the table shows it.
const searched = (value) => (typeof value === "number" ? String(value) : shown(value)).toLowerCase();

function matcher(column, wanted) {
  if (wanted === "") return null;
  if (!column.numeric) {
    const part = wanted.toLowerCase();
    return (row) => searched(row[column.name]).includes(part);
  }
  const [size] = scale(column.unit, largest(column.values));
  const bound = Number(wanted) * size;
  return Number.isNaN(bound) ? null : (row) => Number(amount(row[column.name] ?? 0)) >= bound;
}

// Compares numbers, including those that arrive as text.
function byAmount(a, b) {
  const [x, y] = [amount(a), amount(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
  return x < y ? -1 : Number(x > y);
}

const collator = new Intl.Collator("en");
const byText = (a, b) => collator.compare(String(a), String(b));

// Missing values are always last.
function orders(compare) {
  const missing = (a, b) => (a === null) - (b === null);
  return {
    asc: (a, b) => (a === null || b === null ? missing(a, b) : compare(a, b)),
    desc: (a, b) => (a === null || b === null ? missing(a, b) : compare(b, a)),
  };
}

const asHtml = DataTable.render.text().display; // replaces the characters that HTML gives a meaning

DataTable.type("amount", { className: "amount", order: orders(byAmount) });
DataTable.type("text", { order: orders(byText) });

// Few traces replay graphs. Without, these columns of a view are 0 in each row, and say nothing.
const isUnused = ({ name, meaning, values }) =>
  Boolean(meaning) && /(^|_)replayed_/.test(name) && values.every((value) => !value);

// A number that arrived as text: a decimal keeps its digits, unless its unit is no longer in the title of the column.
function readable(text, unit) {
  if (INTEGER.test(text)) return BigInt(text);
  const value = Number(text);
  return scale(unit, 1)[1] && Number.isFinite(value) ? value : text;
}

function listed(holder, id, panel, label) {
  const known = panel.columns.map((column, n) => ({ ...column, values: panel.values[n] }))
    .filter((column) => column.values.some((value) => value !== null) && !isUnused(column));
  const rows = Array.from({ length: panel.rows }, (_, row) =>
    Object.fromEntries(panel.columns.map((each, n) => [each.name, panel.values[n][row]])));
  const search = element("input", { type: "search", placeholder: "Search" });
  search.setAttribute("aria-label", "Search all columns");
  const count = element("span", { className: "said" });
  count.setAttribute("aria-live", "polite");
  const hasSearch = panel.rows > FEW;
  if (hasSearch) holder.append(element("div", { className: "controls" }, search, count));
  const fields = known.map((column) => {
    const field = element("input", { placeholder: column.numeric ? least(column) : "contains" });
    field.setAttribute("aria-label", `${title(column)}: ${field.placeholder}`);
    return field;
  });
  const head = element("thead", {}, element("tr", {}, ...known.map((column) =>
    element("th", { scope: "col", textContent: title(column), title: column.meaning ?? "" }))));
  if (hasSearch) head.append(element("tr", {}, ...fields.map((field) => element("td", {}, field))));
  const body = element("table", { className: "display compact" }, head);
  const isVirtual = panel.rows > MANY;
  const box = element("div", { className: isVirtual ? "table" : "table scrolled" }, body);
  holder.append(box);
  const table = new DataTable(body, {
    data: rows,
    autoWidth: isVirtual,
    colReorder: { headerRows: [0] },
    layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null },
    order: [],
    titleRow: 0,
    createdRow: (row, { significant }) => row.classList.toggle("noise", significant === false),
    ...(isVirtual ? { deferRender: true, scrollCollapse: true, scroller: true, scrollX: true, scrollY: `${HEIGHT}px` }
      : { paging: false }),
    columns: known.map((column) => ({
      // A function, because the name of a column may contain a dot.
      data: (row) => row[column.name],
      type: column.numeric ? "amount" : "text",
      className: column.name === "message" ? "prose" : "",
      orderSequence: column.numeric ? ["desc", "asc"] : ["asc", "desc"],
      render: (value, type) => {
        if (type !== "display") return value;
        return asHtml(shown(column.numeric && typeof value === "string" ? readable(value, column.unit) : value, column.unit, true));
      },
      createdCell: (cell, value) => {
        cell.dataset.column = column.name;
        if (column.name !== "message") cell.title = String(value ?? "");
      },
    })),
  });
  scrollable(isVirtual ? box.querySelector(".dt-scroll-body") : box, `${label}: rows`);
  // Above the rows that scroll, DataTables keeps a copy of the head without height; a key must not reach it.
  const hideCopies = () => box.querySelectorAll(".dt-scroll-body thead input").forEach((field) => field.remove());
  table.on("draw column-sizing", hideCopies);
  hideCopies();
  const found = () => table.rows({ search: "applied" }).count();
  const showCount = () => {
    const all = `${number.format(panel.rows)} rows`;
    count.textContent = found() === panel.rows ? all : `${number.format(found())} of ${all}`;
  };
  const narrow = (name, test) => {
    table.search.fixed(name, test && ((_, row) => test(row))).draw();
    showCount();
    return found();
  };
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    narrow("all columns", wanted && ((row) => Object.values(row).some(
      (value) => searched(value).includes(wanted))));
  });
  fields.forEach((field, n) => {
    field.addEventListener("input", () => narrow(`column ${n}`, matcher(known[n], field.value)));
  });
  tables.set(id, { filter: (test) => narrow("other panel", test) });
  showCount();
}

// Shows the rows of a panel as a table with sorting, search and filters.
"use strict";

// Tables with at most this many rows have no search.
const FEW = 8;
// Minimum width of a column of sentences, in pixels.
const LEAST_PROSE = 240;
const tables = new Map(); // panel -> Tabulator

// A filter for numbers uses the unit of the column's largest value.
function least(column) {
  const word = scale(column.unit, largest(column.values))[1];
  return word ? `at least, ${word}` : "at least";
}

function atLeast(column) {
  const [size] = scale(column.unit, largest(column.values));
  return (wanted, value) => Number.isNaN(Number(wanted)) || (value ?? 0) >= Number(wanted) * size;
}

// Compares numbers, including those that arrive as text; missing values are always last.
function inOrder(a, b, rowA, rowB, column, direction) {
  if (a === null || b === null) return (a === b ? 0 : a === null ? 1 : -1) * (direction === "asc" ? 1 : -1);
  const [x, y] = [amount(a), amount(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
  return x < y ? -1 : Number(x > y);
}

function listed(holder, id, panel) {
  const known = panel.columns.map((column, n) => ({ ...column, values: panel.values[n] }))
    .filter((column) => column.values.some((value) => value !== null));
  const box = element("div", { className: "table" });
  holder.append(box);
  const rows = Array.from({ length: panel.rows }, (_, row) =>
    Object.fromEntries(panel.columns.map((known, n) => [known.name, panel.values[n][row]])));
  const search = element("input", { type: "search", placeholder: "Search" });
  search.setAttribute("aria-label", "Search all columns");
  const count = element("span", { className: "said" });
  count.setAttribute("aria-live", "polite");
  if (panel.rows > FEW) {
    holder.insertBefore(element("div", { className: "controls" }, search, count), box);
  }
  const table = new Tabulator(box, {
    data: rows,
    layout: "fitDataFill",
    maxHeight: "420px",
    movableColumns: true,
    nestedFieldSeparator: false, // the name of a column may contain a dot
    columns: known.map((column) => ({
      title: title(column),
      field: column.name,
      headerTooltip: column.meaning || false,
      hozAlign: column.numeric ? "right" : "left",
      cssClass: column.name === "message" ? "prose" : "",
      ...(column.name === "message" ? { variableHeight: true } : { maxWidth: 640 }),
      sorter: column.numeric ? inOrder : "string",
      sorterParams: { alignEmptyValues: "bottom" },
      headerSortStartingDir: column.numeric ? "desc" : "asc",
      headerFilter: panel.rows > FEW ? "input" : false,
      headerFilterPlaceholder: column.numeric ? least(column) : "contains",
      headerFilterFunc: column.numeric ? atLeast(column) : "like",
      formatter: (cell) => {
        const value = cell.getValue();
        const isLarge = column.numeric && typeof value === "string" && INTEGER.test(value);
        return document.createTextNode(shown(isLarge ? BigInt(value) : value, column.unit));
      },
      tooltip: (_, cell) => String(cell.getValue() ?? ""),
    })),
  });
  const showCount = () => {
    const found = table.getDataCount("active");
    count.textContent = found === panel.rows ? `${panel.rows} rows` : `${found} of ${panel.rows} rows`;
  };
  const built = new Promise((done) => table.on("tableBuilt", done));
  table.on("tableBuilt", () => {
    tables.set(id, table);
    for (const head of box.querySelectorAll(".tabulator-col-sorter-element, .tabulator-sortable")) {
      head.tabIndex = 0;
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && event.target === head) head.click();
      });
    }
    showCount();
  });
  if (known.some((column) => column.name === "message")) {
    table.on("renderComplete", () => { // sentences fill the width that the other columns leave
      const message = table.getColumn("message");
      const others = table.getColumns().reduce((sum, column) => sum + column.getWidth(), -message.getWidth());
      const room = box.querySelector(".tabulator-tableholder").clientWidth;
      const wanted = Math.max(LEAST_PROSE, room - others);
      if (message.getWidth() === wanted) return;
      message.setWidth(wanted);
      for (const row of table.getRows()) row.normalizeHeight();
    });
  }
  table.on("dataFiltered", () => setTimeout(showCount));
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    table.setFilter((row) => Object.values(row).some(
      (value) => String(value ?? "").toLowerCase().includes(wanted)));
  });
  return built;
}

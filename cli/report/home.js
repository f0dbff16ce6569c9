// The home page: a table of runs with search, sorting and a choice of two runs to compare.
"use strict";

const POLL_MS = 5000;
// Figures are fetched for this many traces at a time.
const BATCH_TRACES = 16;
const NOTHING = "—";
const RUNS = {
  table: document.getElementById("runs"), search: document.getElementById("search"),
  compare: document.getElementById("compare"), said: document.getElementById("said"),
};
const known = { state: "", rows: [], ticked: [], by: "first_ms", down: true, isLoading: false };
const lines = new Map(); // run -> the table row

const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

function brief(value, unit) {
  if (unit === "pct" && value > 0 && value < 0.1) return "< 0.1\u00a0%";
  const [size, word] = scale(unit, value);
  return `${three.format(value / size)}\u00a0${word}`;
}

function exactly(value, unit) {
  return `${number.format(value)} ${{ us: "µs", pct: "%", bytes: "bytes" }[unit]}`;
}

// The columns: a title, what to sort by, and what a cell shows. Figures of `later` come after the list.
const COLUMNS = [
  { id: "run", title: "Run", isText: true },
  { id: "first_ms", title: "Date", isText: true, isDown: true, show: (row) => dateOf(row.first_ms) },
  { id: "gpus", title: "GPU", isText: true, show: (row) => row.gpus ?? NOTHING },
  { id: "workers", title: "Ranks", show: ranks },
  { id: "mean_step_us", title: "Step time", unit: "us", value: (row) => row.figures?.mean_step_us ?? row.mean_step_us },
  { id: "history", title: "History", show: sparkline, value: (row) => change(row.step_history_us) },
  { id: "gpu_busy_pct", title: "GPU busy", unit: "pct", isLater: true },
  { id: "exposed_communication_us", title: "Exposed communication", unit: "us", isLater: true },
  { id: "peak_memory_bytes", title: "Peak memory", unit: "bytes", isLater: true },
];

function valueOf(column, row) {
  if (column.value) return column.value(row);
  return (column.isLater ? row.figures?.[column.id] : row[column.id]) ?? null;
}

function ranks({ workers, world_size: size }) {
  const isPart = size !== null && size > workers;
  const text = element("span", { textContent: isPart ? `${workers} of ${size}` : String(workers) });
  if (isPart) text.title = `The job has ${size} ranks; the warehouse has traces of ${workers}.`;
  return text;
}

// A clock that was not set gives times before 1973.
function dateOf(ms) {
  if (ms === null || ms < 1e11) return NOTHING;
  const date = new Date(ms);
  return element("time", { textContent: date.toISOString().slice(0, 10), title: `${date.toISOString().slice(0, 19)}Z` });
}

// The last mean step as a multiple of the one before, which may be 0.
function change(history) {
  return history?.length > 1 && history.at(-2) > 0 ? history.at(-1) / history.at(-2) : null;
}

// The mean steps of the runs up to this one whose names differ in digits only.
function sparkline({ step_history_us: history }) {
  if (!(history?.length > 1)) return "";
  const [width, height, edge] = [84, 20, 3];
  const [least, most] = [Math.min(...history), Math.max(...history)];
  const x = (n) => edge + (n * (width - 2 * edge)) / (history.length - 1);
  const y = (value) => (most === least ? height / 2 : height - edge - ((value - least) * (height - 2 * edge)) / (most - least));
  const make = (tag, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const ratio = change(history);
  const share = 100 * (ratio - 1);
  const label = `Step time of the last ${history.length} runs whose names differ in digits only: `
    + `${brief(least, "us")} to ${brief(most, "us")}; this one ${brief(history.at(-1), "us")}`
    + (ratio === null ? "" : `, ${share < 0 ? "−" : "+"}${three.format(Math.abs(share))} % to the one before`);
  const caption = make("title", {}, label);
  return make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "sparkline" }, caption,
    make("polyline", { points: history.map((value, n) => `${x(n)},${y(value)}`).join(" ") }),
    make("circle", { cx: x(history.length - 1), cy: y(history.at(-1)), r: 2.5 }));
}

function cellOf(column, row) {
  const cell = element("td", { className: column.isText ? "" : "figure" });
  cell.dataset.column = column.id;
  cell.dataset.title = column.title;
  if (column.isLater && row.figures?.error) {
    cell.textContent = "unreadable";
    cell.title = row.figures.error;
  } else if (column.isLater && !row.figures) {
    cell.textContent = "…";
  } else if (column.unit) {
    const value = valueOf(column, row);
    cell.textContent = value === null ? NOTHING : brief(value, column.unit);
    if (value !== null) cell.title = exactly(value, column.unit);
    if (column.id === "peak_memory_bytes" && row.figures?.is_host_memory && value !== null) cell.append(" host");
  } else cell.append(column.show(row));
  cell.classList.toggle("none", ["", NOTHING].includes(cell.textContent));
  return cell;
}

function lineOf(row) {
  const tick = element("input", { type: "checkbox", ariaLabel: `Select ${row.run} to compare`, checked: known.ticked.includes(row.run),
    onchange: () => mark(row.run, tick.checked) });
  const link = element("a", { href: `?${new URLSearchParams({ run: row.run })}`, textContent: row.run, title: row.run });
  const line = element("tr", {}, element("td", { className: "tick" }, tick),
    element("th", { scope: "row" }, link), ...COLUMNS.slice(1).map((column) => cellOf(column, row)));
  // A click anywhere in the row opens the run, but not the end of a selection of text.
  line.addEventListener("click", (event) => {
    if (!event.target.closest("a, .tick, input") && getSelection().isCollapsed) link.click();
  });
  line.querySelector(".tick").addEventListener("click", (event) => { if (event.target !== tick) tick.click(); });
  line.dataset.run = row.run;
  return line;
}

// ---- Two runs to compare: the earlier one is the baseline.

function mark(run, isTicked) {
  known.ticked = known.ticked.filter((each) => each !== run);
  if (isTicked) known.ticked.push(run);
  while (known.ticked.length > 2) { // a third tick replaces the oldest one
    const box = lines.get(known.ticked.shift())?.querySelector("input");
    if (box) box.checked = false;
  }
  showMarks();
}

function pair() {
  const rows = known.rows.filter((row) => known.ticked.includes(row.run));
  return rows.sort((a, b) => (a.first_ms ?? 0) - (b.first_ms ?? 0) || (a.run < b.run ? -1 : 1));
}

function showMarks() {
  const rows = pair();
  RUNS.compare.disabled = rows.length !== 2;
  RUNS.compare.textContent = rows.length === 2 ? `Compare with ${rows[0].run}` : "Compare";
  RUNS.compare.title = rows.length === 2 ? `${rows[1].run}, compared with ${rows[0].run}` : "Select two runs first";
}

RUNS.compare.addEventListener("click", () => {
  const [baseline, run] = pair();
  location.search = new URLSearchParams({ run: run.run, baseline: baseline.run });
});

// ---- The table.

function wanted() {
  const words = RUNS.search.value.toLowerCase().split(/\s+/).filter((word) => word);
  return known.rows.filter((row) => {
    const text = `${row.run} ${row.gpus ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function sorted(rows) {
  const column = COLUMNS.find(({ id }) => id === known.by);
  const sign = known.down ? -1 : 1;
  return rows.sort((a, b) => {
    const [x, y] = [valueOf(column, a), valueOf(column, b)];
    if (x === null || y === null) return (x === null) - (y === null); // what is missing is last
    return x < y ? -sign : x > y ? sign : 0;
  });
}

function showHead() {
  const heads = COLUMNS.map((column) => {
    const head = element("th", { scope: "col", className: column.isText ? "" : "figure" },
      element("button", { type: "button", textContent: column.title, onclick: () => {
        known.down = known.by === column.id ? !known.down : column.isDown ?? !column.isText;
        known.by = column.id;
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", known.down ? "descending" : "ascending");
        arrange();
      } }));
    if (column.id === known.by) head.setAttribute("aria-sort", "descending");
    return head;
  });
  RUNS.table.append(element("thead", {}, element("tr", {}, element("td", { className: "tick" }), ...heads)), element("tbody"));
}

// Puts the rows in order. Rows that stay in place are not touched, so that focus and scrolling stay.
function arrange() {
  const body = RUNS.table.tBodies[0];
  const rows = sorted(wanted());
  const shownLines = rows.map((row) => lines.get(row.run));
  const kept = new Set(shownLines);
  for (const line of [...body.children]) if (!kept.has(line)) line.remove();
  let next = body.firstElementChild;
  for (const line of shownLines) {
    if (line === next) next = next.nextElementSibling;
    else body.insertBefore(line, next);
  }
  const all = known.rows.length;
  const count = `${number.format(all)} run${all === 1 ? "" : "s"}`;
  RUNS.said.textContent = rows.length === all ? count : `${number.format(rows.length)} of ${count}`;
}

function replaceLine(row) {
  const before = lines.get(row.run);
  const focus = before?.contains(document.activeElement) && document.activeElement.tagName;
  const after = lineOf(row);
  lines.set(row.run, after);
  before?.replaceWith(after);
  if (focus) after.querySelector(focus.toLowerCase())?.focus({ preventScroll: true });
}

function showRuns(found) {
  const before = new Map(known.rows.map((row) => [row.run, row]));
  known.state = found.state;
  known.rows = Array.from({ length: found.rows }, (_, n) => {
    const row = Object.fromEntries(found.columns.map(({ name }, at) => [name, found.values[at][n]]));
    row.state = found.states[n];
    row.text = JSON.stringify(row);
    const old = before.get(row.run);
    if (old?.state === row.state) row.figures = old.figures;
    if (old?.text !== row.text) replaceLine(row);
    return row;
  });
  const names = new Set(known.rows.map((row) => row.run));
  for (const run of [...lines.keys()]) if (!names.has(run)) lines.delete(run);
  known.ticked = known.ticked.filter((run) => names.has(run));
  if (known.rows.length) document.getElementById("newest").href = `?${new URLSearchParams({ run: known.rows[0].run })}`;
  showMarks();
  arrange();
}

// ---- What comes later: the figures, in the order of the rows, and new runs.

async function loadFigures() {
  if (known.isLoading) return;
  known.isLoading = true;
  try {
    for (;;) {
      const missing = [...sorted(wanted()), ...known.rows].filter((row) => !row.figures);
      if (!missing.length || document.hidden) break;
      const batch = [];
      let traces = 0;
      for (const row of new Set(missing)) {
        traces += row.traces;
        if (batch.length && traces > BATCH_TRACES) break;
        batch.push(row);
      }
      const asked = new URLSearchParams(batch.map((row) => ["run", row.run]));
      let found;
      try {
        found = await fetchJson(`api/figures?${asked}`);
      } catch (error) {
        found = Object.fromEntries(batch.map((row) => [row.run, { error: error.message }]));
      }
      for (const asked of batch) {
        asked.figures = found[asked.run] ?? { error: "The run is no longer in the warehouse." };
        const row = known.rows.find(({ run }) => run === asked.run); // a newer list may have come
        if (row?.state === asked.state) {
          row.figures = asked.figures;
          const line = lines.get(row.run);
          for (const column of COLUMNS.filter(({ isLater }) => isLater)) {
            line.querySelector(`[data-column="${column.id}"]`).replaceWith(cellOf(column, row));
          }
        }
      }
      if (COLUMNS.find(({ id }) => id === known.by).isLater) arrange();
    }
  } finally {
    known.isLoading = false;
  }
}

async function poll() {
  try {
    const found = await fetchJson(`api/runs?${new URLSearchParams({ known: known.state })}`);
    if (found.columns) showRuns(found);
    else arrange();
    loadFigures();
  } catch (error) {
    RUNS.said.textContent = error.message;
  }
}

showHead();
RUNS.search.addEventListener("input", () => { arrange(); loadFigures(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) poll(); });
(async () => {
  for (;;) {
    if (!document.hidden) await poll();
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
})();

// The SQL page: queries with cancel, history, export and a picture, beside the names that they can read.
"use strict";

const HISTORY_KEY = "tracewh-history";
const MOST_HISTORY = 100;
const box = document.getElementById("ask");
const names = document.getElementById("names");
const text = box.querySelector("textarea");
const message = box.querySelector(".said");
const holder = box.querySelector(".content");
const picture = box.querySelector(".picture");
const drawing = box.querySelector(".draw");
const stop = box.querySelector(".cancel");
let running = null; // the AbortController of the running query or export
let answer = null; // the rows on the page

function state(aborter) {
  running = aborter;
  box.setAttribute("aria-busy", String(aborter !== null));
  if (aborter === null && document.activeElement === stop) text.focus();
  stop.hidden = aborter === null;
}

function post(content, aborter) {
  return { method: "POST", body: JSON.stringify(content), signal: aborter.signal, headers: { "Content-Type": "application/json" } };
}

// Runs an action that can be cancelled. A new one replaces the running one.
async function attempt(said, act) {
  running?.abort();
  const mine = new AbortController();
  state(mine);
  message.textContent = said;
  let failed = null;
  try {
    await act(mine, () => running === mine);
  } catch (error) {
    failed = mine.signal.aborted ? "Cancelled." : error.message;
  }
  if (running !== mine) return false;
  if (failed !== null) message.textContent = failed;
  state(null);
  return failed === null;
}

function show(panel) {
  answer = panel;
  drawing.disabled = !panel;
  if (!panel) drawing.setAttribute("aria-expanded", "false");
  showDrawing();
}

function showDrawing() {
  picture.hidden = drawing.getAttribute("aria-expanded") !== "true";
  if (!picture.hidden) showPicture(picture, answer);
}

// A table leaves out columns of which no row has a value. Whoever wrote the query is told so.
function withoutEmpty(panel) {
  const empty = panel.columns.filter((_, n) => panel.values[n].every((value) => value === null));
  const notes = empty.length ? [`Without a value: ${empty.map(({ name }) => name).join(", ")}.`] : [];
  return { ...panel, notes, table: empty.length < panel.columns.length };
}

async function run() {
  const sql = text.value;
  remember(sql);
  const isDone = await attempt("Running…", async (aborter, isCurrent) => {
    const panel = await fetchJson("api/sql", post({ sql }, aborter));
    if (!isCurrent()) return;
    holder.replaceChildren();
    if (panel.plan) {
      show(null);
      message.textContent = "Query plan";
      holder.append(element("pre", {}, panel.plan));
    } else {
      message.textContent = panel.said;
      show(panel.rows ? panel : null);
      if (panel.rows) await draw(holder, "ask", withoutEmpty(panel), "Rows");
    }
  });
  if (!isDone && running === null) { // removes the rows of the previous query
    holder.replaceChildren();
    show(null);
  }
}

// All rows of the query in the box, not only those on the page.
function save(format) {
  const sql = text.value;
  remember(sql);
  attempt(`Exporting as ${format === "csv" ? "CSV" : "Parquet"}…`, async (aborter) => {
    const response = await request("api/export", post({ sql, format }, aborter));
    const file = await explained(response.blob());
    const link = element("a", { href: URL.createObjectURL(file), download: `tracewh.${format}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    message.textContent = `Saved as tracewh.${format}, ${shown(file.size, "bytes")}.`;
  });
}

// Replaces the text of the box, so that Ctrl+Z brings the old text back.
function write(sql) {
  text.focus();
  text.select();
  insert(sql);
}

function insert(part) {
  text.focus();
  if (!document.execCommand("insertText", false, part)) text.setRangeText(part, text.selectionStart, text.selectionEnd, "end");
}

const cancel = () => running?.abort();
box.querySelector(".run").addEventListener("click", run);
stop.addEventListener("click", cancel);
for (const button of box.querySelectorAll(".export")) button.addEventListener("click", () => save(button.dataset.format));
drawing.addEventListener("click", () => {
  drawing.setAttribute("aria-expanded", String(drawing.getAttribute("aria-expanded") !== "true"));
  showDrawing();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
box.addEventListener("keydown", (event) => { if (event.key === "Escape") cancel(); });
window.addEventListener("pagehide", cancel);

// ---- History. A browser may refuse to store anything; the history then ends with the page.

const past = document.getElementById("history");
let unstored = [];
let isStored = true;

function stored() {
  if (!isStored) return unstored;
  try {
    const found = JSON.parse(localStorage.getItem(HISTORY_KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
  } catch (error) {
    if (!(error instanceof SyntaxError)) isStored = false;
    return unstored;
  }
}

function store(queries) {
  unstored = queries;
  try {
    localStorage.setItem(HISTORY_KEY, JSON.stringify(queries));
  } catch {
    isStored = false;
  }
  showHistory();
}

function remember(sql) {
  if (!sql.trim()) return;
  store([sql, ...stored().filter((each) => each !== sql)].slice(0, MOST_HISTORY));
}

function showHistory() {
  const queries = stored();
  const [note, list, clear] = ["p", "ol", "button"].map((tag) => past.querySelector(`:scope > ${tag}`));
  note.textContent = !isStored ? "The browser stores nothing for this page: the history ends with it."
    : queries.length ? "" : "The queries that you run are listed here, in this browser only.";
  note.hidden = !note.textContent;
  clear.hidden = !queries.length;
  list.replaceChildren(...queries.map((sql) => element("li", {},
    element("button", { type: "button", title: sql, textContent: sql.replace(/\s+/g, " "), onclick: () => write(sql) }))));
}

past.querySelector(":scope > button").addEventListener("click", () => store([]));
window.addEventListener("storage", showHistory); // another tab ran a query
showHistory();

// ---- The views and tables.

const given = new URLSearchParams(location.search);
let runs = null; // the newest two runs, if no run is given

async function newest() {
  if (!runs) {
    const found = await fetchJson("api/runs");
    runs = found.values[0] ?? [];
  }
  return runs;
}

const quoted = (value) => `'${value.replaceAll("'", "''")}'`;

async function example({ name, given: params }) {
  if (!params) return `FROM ${name} LIMIT 100`;
  const known = Object.fromEntries(["run", "worker", "span"].map((key) => [key, given.get(key)]));
  const wanted = JSON.parse(params);
  if (!known.run && ["run", "baseline", "experiment"].some((key) => key in wanted)) {
    const [last, before] = await newest();
    Object.assign(known, { run: last, experiment: last, baseline: before ?? last });
  } else if ("baseline" in wanted) {
    const others = (await newest()).filter((each) => each !== known.run);
    Object.assign(known, { experiment: known.run, baseline: others[0] ?? known.run });
  }
  const parts = Object.entries(wanted).map(([key, value]) => [key, value ?? known[key]]).filter(([, value]) => value !== null && value !== undefined);
  return `FROM ${name}(${parts.map(([key, value]) => `${key} := ${quoted(value)}`).join(", ")}) LIMIT 100`;
}

names.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.className === "column") insert(button.textContent);
  else {
    try {
      write(await example(button.dataset));
    } catch (error) {
      message.textContent = error.message;
    }
  }
});

const search = names.querySelector("input");
search.addEventListener("input", () => {
  const word = search.value.trim().toLowerCase();
  for (const section of names.querySelectorAll("section")) {
    for (const item of section.querySelectorAll(":scope > ul > li")) {
      const isNamed = item.querySelector(".name").textContent.includes(word);
      const columns = [...item.querySelectorAll(".column")].some((each) => each.textContent.includes(word));
      item.hidden = !(isNamed || columns);
      item.querySelector("details").open = word !== "" && !isNamed && columns;
    }
    section.hidden = !section.querySelector(":scope > ul > li:not([hidden])");
  }
});

if (window.matchMedia("(max-width: 900px)").matches) names.open = false;
if (location.hash.length > 1) {
  const written = location.hash.slice(1);
  try {
    text.value = decodeURIComponent(written);
  } catch { // a link that somebody wrote by hand, e.g. with a % that is no escape
    text.value = written.replaceAll("%20", " ");
  }
}

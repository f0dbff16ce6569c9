// What every page has: requests to its server, rows as a chart and a table, and the theme.
"use strict";

const embedded = document.getElementById("data");
const data = embedded && JSON.parse(embedded.textContent);
// The trace of a page that has a server. Its address may leave open which: `?run=` is the newest run, and without a worker
// it is the lowest rank. While a job still writes traces, both may be another one soon.
const OF_TRACE = `?${new URLSearchParams([...document.querySelectorAll("select[data-choice] > [selected]")]
  .filter(({ value }) => value).map((option) => [option.parentElement.dataset.choice, option.value]))}`;
const dark = window.matchMedia("(prefers-color-scheme: dark)");

// Says what went wrong: the words of a browser for a server that does not answer are "Failed to fetch".
async function explained(promise, status) {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof TypeError) throw new Error("The server does not answer.");
    // A proxy in front of the server may answer with a page of its own.
    if (error instanceof SyntaxError) throw new Error(`The answer is not from tracewh: HTTP status ${status}.`);
    throw error;
  }
}

// Sends a request, and returns its answer, which is none of the errors of the server.
async function request(path, options) {
  const response = await explained(fetch(path, options));
  if (!response.ok) throw new Error((await explained(response.json(), response.status)).error);
  compareState(path, response.headers.get("ETag"));
  return response;
}

// The state of the traces when the page asked first, per run and baseline.
const states = new Map();

// Says if traces were added or replaced since then: what was drawn before and after does not fit together.
function compareState(path, state) {
  const changed = document.getElementById("changed");
  if (!changed || !state) return;
  const asked = new URL(path, document.baseURI).searchParams;
  const runs = [asked.get("run"), asked.get("baseline")].sort().join("\n");
  if (!states.has(runs)) states.set(runs, state);
  changed.hidden &&= states.get(runs) === state;
}

async function fetchJson(path, options) {
  const response = await request(path, options);
  return explained(response.json(), response.status);
}

// In a file, paths of frames are the numbers of their parts.
function unpack(panel) {
  panel.values = panel.values.map((values) => (values.paths
    ? values.paths.map((path) => path.map((part) => values.names[part]).join(";"))
    : values));
}

async function draw(holder, id, panel, label) {
  holder.replaceChildren();
  unpack(panel);
  if (panel.is_cut) {
    holder.append(element("p", { className: "said",
      textContent: `At most ${number.format(panel.rows)} rows are shown, also in the chart.` }));
  }
  for (const note of panel.notes ?? []) {
    holder.append(element("p", { className: "said", textContent: note }));
  }
  if (panel.chart) await drawChart(holder, panel, panel.finding ? `${label}. ${typeset(panel.finding)}` : label);
  if (panel.table) listed(holder, id, panel, label);
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.documentElement.classList.toggle("dark", theme === "dark"); // for DataTables
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  document.dispatchEvent(new Event("theme"));
}

setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
document.getElementById("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));

// Paper is light. Without backgrounds, which browsers leave out, nobody can read the dark theme on it.
window.addEventListener("beforeprint", () => {
  if (!isDark()) return;
  setTheme("light");
  window.addEventListener("afterprint", () => setTheme("dark"), { once: true });
});

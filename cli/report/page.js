// Draws each panel from the rows in the page, or from rows that it fetches from its server.
"use strict";

const embedded = document.getElementById("data");
const data = embedded && JSON.parse(embedded.textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");

async function fetchJson(path, options) {
  const response = await fetch(path, options);
  const content = await response.json();
  if (!response.ok) throw new Error(content.error);
  return content;
}

async function draw(holder, id, panel, label) {
  holder.replaceChildren();
  if (panel.is_cut) {
    holder.append(element("p", { className: "said",
      textContent: `The first ${number.format(panel.rows)} rows only, also in the chart.` }));
  }
  if (panel.chart) await drawChart(holder, panel, label);
  if (panel.table) listed(holder, id, panel, label);
}

function show(article) {
  if (article.shown) return article.shown;
  const id = article.dataset.panel;
  const message = article.querySelector(".empty");
  const holder = article.querySelector(".content");
  article.shown = (async () => {
    try {
      const panel = data ? data[id] : await fetchJson(`api/panel/${id}${location.search}`);
      if (panel.rows) await draw(holder, id, panel, article.querySelector("h3").textContent);
      else {
        message.textContent = panel.empty;
        message.hidden = false;
      }
      article.dataset.drawn = "yes";
    } catch (error) {
      message.textContent = error.message;
      message.hidden = false;
      article.dataset.drawn = "failed";
    }
  })();
  return article.shown;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.documentElement.classList.toggle("dark", theme === "dark"); // for DataTables
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  for (const draw of drawn.values()) draw();
}

setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
document.getElementById("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
    button.textContent = "Copied";
  });
}
// A panel is drawn when it comes near the screen.
const watcher = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    show(target);
  }
}, { rootMargin: "600px" });
// The verdict and the timeline are on top, so they come before the panels.
const verdict = document.getElementById("panel-verdict");
if (verdict) show(verdict);
showTimeline(document.getElementById("timeline")).then(() => {
  for (const article of document.querySelectorAll("article[data-panel]")) watcher.observe(article);
});

// ---- Only on a live page: selection of a trace, and SQL queries.

for (const select of document.querySelectorAll("select[data-choice]")) {
  select.addEventListener("change", () => {
    // A change of the run resets worker and span; a change of the worker resets the span.
    const order = ["baseline", "run", "worker", "span"];
    const last = Math.max(order.indexOf(select.dataset.choice), 1);
    const kept = order.slice(0, select.dataset.choice === "baseline" ? order.length : last + 1);
    const wanted = new URLSearchParams();
    for (const name of kept) {
      const { value } = document.querySelector(`select[data-choice=${name}]`);
      if (value) wanted.set(name, value);
    }
    location.search = wanted;
  });
}

const queryBox = document.getElementById("ask");
if (queryBox) {
  const text = queryBox.querySelector("textarea");
  const message = queryBox.querySelector(".said");
  const holder = queryBox.querySelector(".content");
  const [start, stop] = [".run", ".cancel"].map((name) => queryBox.querySelector(name));
  let running = null; // the AbortController of the running query
  const state = (aborter) => {
    running = aborter;
    queryBox.setAttribute("aria-busy", String(aborter !== null));
    if (aborter === null && document.activeElement === stop) text.focus();
    stop.hidden = aborter === null;
  };
  const run = async () => {
    running?.abort(); // a new query replaces the running one
    const mine = new AbortController();
    state(mine);
    message.textContent = "Running…";
    try {
      const panel = await fetchJson("api/sql", { method: "POST", body: JSON.stringify({ sql: text.value }),
        headers: { "Content-Type": "application/json" }, signal: mine.signal });
      if (running !== mine) return;
      holder.replaceChildren();
      if (panel.plan) {
        message.textContent = "Query plan";
        holder.append(element("pre", {}, panel.plan));
      } else {
        message.textContent = panel.said;
        if (panel.rows) await draw(holder, "ask", { ...panel, table: true }, "Rows");
      }
    } catch (error) {
      if (running !== mine) return;
      holder.replaceChildren(); // removes the rows of the previous query
      message.textContent = mine.signal.aborted ? "Cancelled." : error.message;
    }
    if (running === mine) state(null);
  };
  const cancel = () => running?.abort();
  start.addEventListener("click", run);
  stop.addEventListener("click", cancel);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  });
  queryBox.addEventListener("keydown", (event) => { if (event.key === "Escape") cancel(); });
  window.addEventListener("pagehide", cancel);
  queryBox.querySelector("select").addEventListener("change", (event) => {
    text.value = event.target.selectedOptions[0].dataset.sql;
    run();
  });
}

// Draws each panel from the rows that the page carries, or that its server gives.
"use strict";

const carried = document.getElementById("data");
const data = carried && JSON.parse(carried.textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");

async function ask(path, options) {
  const answer = await fetch(path, options);
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}

function draw(holder, id, panel, label) {
  holder.replaceChildren();
  if (panel.is_cut) {
    holder.append(element("p", { className: "said",
      textContent: `The first ${number.format(panel.rows)} rows; the rest is left out, of the picture too.` }));
  }
  if (panel.chart) CHARTS[panel.chart.kind](holder, panel, panel.chart, label);
  if (panel.table) return listed(holder, id, panel);
  return null;
}

function show(article) {
  if (article.shown) return article.shown;
  const id = article.dataset.panel;
  const said = article.querySelector(".empty");
  const holder = article.querySelector(".content");
  article.shown = (async () => {
    try {
      const panel = data ? data[id] : await ask(`api/panel/${id}${location.search}`);
      if (panel.rows) await draw(holder, id, panel, article.querySelector("h3").textContent);
      else {
        said.textContent = panel.empty;
        said.hidden = false;
      }
    } catch (error) {
      said.textContent = error.message;
      said.hidden = false;
    }
    article.dataset.drawn = "yes";
  })();
  return article.shown;
}

function wear(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  for (const draw of drawn.values()) draw();
}

wear(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => wear(dark.matches ? "dark" : "light"));
document.getElementById("theme").addEventListener("click", () => wear(isDark() ? "light" : "dark"));
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
for (const article of document.querySelectorAll("article[data-panel]")) watcher.observe(article);

// ---- What only a live page has: a choice of traces, and SQL.

for (const select of document.querySelectorAll("select[data-choice]")) {
  select.addEventListener("change", () => {
    // Another run has other workers, and another worker other spans.
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

const asking = document.getElementById("ask");
if (asking) {
  const text = asking.querySelector("textarea");
  const said = asking.querySelector(".said");
  const holder = asking.querySelector(".content");
  const [start, stop] = [".run", ".cancel"].map((name) => asking.querySelector(name));
  let running = null; // what aborts the query that runs
  const state = (aborter) => {
    running = aborter;
    asking.setAttribute("aria-busy", String(aborter !== null));
    if (aborter === null && document.activeElement === stop) text.focus();
    stop.hidden = aborter === null;
  };
  const run = async () => {
    running?.abort(); // a new query takes the place of the one before
    const mine = new AbortController();
    state(mine);
    said.textContent = "Running…";
    try {
      const panel = await ask("api/sql", { method: "POST", body: JSON.stringify({ sql: text.value }),
        headers: { "Content-Type": "application/json" }, signal: mine.signal });
      if (running !== mine) return;
      holder.replaceChildren();
      if (panel.plan) {
        said.textContent = "The plan.";
        holder.append(element("pre", {}, panel.plan));
      } else {
        said.textContent = panel.said;
        if (panel.rows) await draw(holder, "ask", { ...panel, table: true }, "Rows");
      }
    } catch (error) {
      if (running !== mine) return;
      holder.replaceChildren(); // rows of the query before
      said.textContent = mine.signal.aborted ? "Cancelled." : error.message;
    }
    if (running === mine) state(null);
  };
  const cancel = () => running?.abort();
  start.addEventListener("click", run);
  stop.addEventListener("click", cancel);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  });
  asking.addEventListener("keydown", (event) => { if (event.key === "Escape") cancel(); });
  window.addEventListener("pagehide", cancel);
  asking.querySelector("select").addEventListener("change", (event) => {
    text.value = event.target.selectedOptions[0].dataset.sql;
    run();
  });
}

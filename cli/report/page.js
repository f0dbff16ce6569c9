// Draws each panel from the rows in the page, or from rows that it fetches from its server.
"use strict";

function show(article) {
  if (article.shown) return article.shown;
  const id = article.dataset.panel;
  const message = article.querySelector(".empty");
  const holder = article.querySelector(".content");
  article.shown = (async () => {
    try {
      const panel = data ? data[id] : await fetchJson(`api/panel/${id}${OF_TRACE}`);
      article.whole = panel;
      showFinding(article, panel);
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
      if (!data) offerAgain(article, message);
    }
  })();
  return article.shown;
}

// The server may have been busy or away, and the other panels need no reload.
function offerAgain(article, message) {
  const button = element("button", { type: "button", textContent: "Try again" });
  button.addEventListener("click", () => {
    message.hidden = true;
    delete article.dataset.drawn;
    article.shown = null;
    show(article);
  });
  message.append(" ", button);
}

// Says below the title of a panel what its rows show.
function showFinding(article, panel) {
  const line = article.querySelector(".finding");
  line.textContent = typeset(panel?.finding) ?? "";
  line.hidden = !line.textContent;
}

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // A page over plain HTTP has no clipboard, but a browser copies what is selected.
      getSelection().selectAllChildren(code);
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected, press Ctrl+C";
    }
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

// In the frame of a notebook a link to a place in the page would load the notebook in the place of the page.
if (location.protocol === "about:") {
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const place = link && document.getElementById(link.hash.slice(1));
    if (!place) return;
    event.preventDefault();
    place.scrollIntoView();
    place.focus({ preventScroll: true });
  });
}

// A print shows all panels. Those of a file are drawn at once; a server may answer later.
window.addEventListener("beforeprint", () => {
  for (const article of document.querySelectorAll("article[data-panel]")) show(article);
});

// ---- Only in a file: the first screens of the other traces of the run.

for (const select of document.querySelectorAll("select[data-screen]")) {
  select.addEventListener("change", () => {
    const [worker, span] = ["worker", "span"].map((name) => document.querySelector(`select[data-screen=${name}]`).value);
    showScreen(worker, span);
  });
}

// Shows the first screen of a trace, and its lanes under those of the page's trace; of another span if it has no such.
function showScreen(worker, span) {
  const of = data.screens.filter((screen) => screen.worker === worker);
  const screen = of.find((each) => each.span === span) ?? of[0];
  for (const [name, value] of Object.entries({ worker, span: screen.span })) {
    document.querySelector(`select[data-screen=${name}]`).value = value;
  }
  const article = document.getElementById("panel-verdict");
  const own = data.verdict;
  const panel = screen.verdict ? { ...own, values: screen.verdict, mean: screen.mean, replay: null, span: screen.span, chart: { ...own.chart, panels: {} },
    steps: { ...data.steps, values: screen.steps, rows: screen.steps[0]?.length ?? 0 } } : own;
  draw(article.querySelector(".content"), "verdict", panel, article.querySelector("h3").textContent);
  const { stack, main } = document.getElementById("timeline").timeline ?? {};
  const track = screen.span === main?.source.found.span && stack?.trackOf(worker);
  if (track && track !== main) stack.show(worker, true);
}

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
// Whoever goes back finds the choice that led away from the page. It is not what the page shows.
window.addEventListener("pageshow", ({ persisted }) => {
  for (const select of document.querySelectorAll("select[data-choice], select[data-screen]")) {
    if (persisted && select.dataset.screen) continue; // the first screen that is shown came back with it
    const own = [...select.options].find((option) => option.defaultSelected);
    if (own) select.value = own.value;
  }
});
if (!data) {
  for (const details of document.querySelectorAll("article[data-panel] details")) {
    const { textContent } = details.querySelector("code");
    details.append(" ", element("a", { href: `sql${OF_TRACE}#${encodeURIComponent(textContent)}`, textContent: "Open in SQL page" }));
  }
}

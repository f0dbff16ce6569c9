// Bars of time by category, drawn with elements of the page: the same colours on every page.
"use strict";

// A bar of parts; `most` is the value that fills its width.
function bar(parts, most) {
  const made = element("div", { className: "bar" });
  for (const { value, color, word } of parts) {
    if (!(value > 0)) continue;
    const part = element("span", { className: `part c-${color}`, title: `${word} ${shown(value, "us")}` });
    part.style.width = `${(100 * value) / most}%`;
    made.append(part);
  }
  return made;
}

function legend(parts) {
  return element("p", { className: "legend" }, ...parts.filter(({ value }) => value > 0).map(({ value, color, word }) =>
    element("span", {}, element("i", { className: `c-${color}` }), `${word} ${rounded(value, "us")}`)));
}

// A value in two or three significant digits, with its unit; a time as the sentences of the views have it.
function rounded(value, unit) {
  if (value === null || value === undefined) return "—";
  const isTime = unit === "us" || unit === "ns";
  const [size, word] = scale(unit, isTime ? value / 0.9995 : value); // what is rounded to 1,000 has the next unit
  const text = isTime ? asDigits(value / size) : significant(value / size);
  return word ? `${text} ${word}` : text;
}

function partsOf(panel, row) {
  return CATEGORIES.map(([name, color, word]) => ({ value: column(panel, name)?.values[row] ?? 0, color, word }));
}

Object.assign(ELEMENTS, {
  // One strip per worker: the mean step by category, and how long the others wait for it.
  workers(holder, panel) {
    const [worker, span, rank] = ["worker", "span", "rank"].map((name) => column(panel, name).values);
    const [step, steps, lateness] = ["step_us", "steps", "lateness_us"].map((name) => column(panel, name).values);
    const most = largest(step);
    const several = new Set(span).size > 1;
    const nameOf = (row) => (rank[row] === null ? worker[row] : `rank ${rank[row]}`) + (several ? `, span ${span[row]}` : "");
    const all = CATEGORIES.map(([name, color, word]) => ({ color, word, value: largest(column(panel, name).values) }));
    holder.append(element("p", { className: "legend" }, ...all.filter(({ value }) => value > 0).map(({ color, word }) =>
      element("span", {}, element("i", { className: `c-${color}` }), word))));
    const timelines = document.getElementById("timeline");
    const boxes = [];
    const rows = worker.map((name, row) => {
      const label = element("span", { className: "name", textContent: nameOf(row), title: name });
      const link = new URLSearchParams(OF_TRACE);
      link.set("worker", name);
      link.set("span", span[row]);
      const cells = [bar(partsOf(panel, row), most), element("span", { className: "figure", textContent: rounded(step[row], "us") }),
        element("span", { className: "figure soft", textContent: lateness[row] > 0 ? `late ${rounded(lateness[row] / steps[row], "us")}` : "" })];
      // In a file, to its first screen, if there was room for it.
      const isThere = !data || data.screens.some((screen) => screen.worker === name && screen.span === span[row]);
      const line = isThere ? element("a", { className: "strip", href: data ? "#verdict" : `?${link}` }, label, ...cells)
        : element("div", { className: "strip" }, label, ...cells);
      if (data && isThere) line.addEventListener("click", () => showScreen(name, span[row]));
      const box = element("input", { type: "checkbox", title: "Show in the timeline", ariaLabel: `Show ${nameOf(row)} in the timeline`,
        onchange: () => timelines.timeline.stack.show(name, box.checked) });
      boxes.push([box, name, span[row]]);
      return element("div", { className: "strip-row" }, box, line);
    });
    // The timeline knows its workers later, and they are chosen there too.
    const update = () => {
      const { stack, main } = timelines.timeline ?? {};
      for (const [box, name, at] of boxes) {
        const track = at === main?.source.found.span ? stack?.trackOf(name) : null;
        box.checked = Boolean(track) && stack.isShown(name);
        box.disabled = !track || track === main;
      }
    };
    timelines.addEventListener("stacked", update);
    update();
    holder.append(element("p", { className: "said", textContent: "Tick workers to see them one below the other in the timeline." }),
      element("div", { className: "strips" }, ...rows));
  },
});

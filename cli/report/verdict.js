// The verdict: a sentence, six figures, the average step, each step, and what costs most.
"use strict";

// Up to this many steps are bars with a name; more are narrow columns.
const NAMED_STEPS = 8;

// SQL writes "us"; a line must not end between a number and its unit.
function typeset(text) {
  return text?.replace(/(\d) us\b/g, "$1 µs").replace(/(\d) (?=%|[mµn]?s\b|[KMGT]?i?B\b)/g, "$1\u00a0").replace(/^(\d+) x /, "$1 × ");
}

Object.assign(ELEMENTS, {
  verdict(holder, panel) {
    const rows = panel.values[0].map((_, row) => Object.fromEntries(
      panel.columns.map((known, n) => [known.name, panel.values[n][row]])));
    const of = (part) => rows.filter((row) => row.part === part);
    const [headline] = of("headline");
    const gain = panel.replay ?? of("gain")[0]?.text;
    if (headline?.detail) holder.append(element("p", { className: "recorded", textContent: typeset(headline.detail) }));
    holder.append(element("p", { className: "headline", textContent: typeset(headline?.text) ?? "" }));
    if (gain) holder.append(element("p", { className: "gain", textContent: typeset(gain) }));
    if (!of("card").length) return null; // a table without events
    holder.append(element("div", { className: "cards" }, ...of("card").map(cardOf)));
    if (panel.mean.total > 0 && panel.mean.total === panel.mean.other && !of("finding").length) return null; // a bar of one color
    const step = element("section", { className: "average" });
    const recorded = of("card")[0]?.title === "Recording"; // there are no steps
    const findings = element("section", { className: "findings" }, element("h4", { textContent: "What costs most" }));
    const found = of("finding");
    findings.append(...(found.length ? found.map((row) => findingOf(row, panel.chart.panels))
      : [element("p", { className: "said", textContent: `Nothing that tracewh looks for costs 1 % of ${recorded ? "the recording" : "a step"}.` })]));
    holder.append(element("div", { className: "columns" }, step, findings));
    // The time of a serving step leaves out waits for work that is not in the trace; its bar does not.
    const hasAllWaits = !recorded && of("card")[0]?.title !== "Step time";
    return averageStep(step, panel, hasAllWaits ? "The average step, with all waits" : undefined);
  },
});

function cardOf({ title: name, text, detail, value, unit }) {
  const figure = element("b", { textContent: typeset(text) ?? "—" });
  if (typeof value === "number") figure.title = `${number.format(value)} ${{ us: "µs", pct: "%", bytes: "bytes" }[unit] ?? ""}`;
  return element("div", { className: "card" }, element("span", { className: "soft", textContent: name }), figure,
    element("span", { className: "soft", textContent: typeset(detail) ?? "" }));
}

function findingOf({ title: cost, text, detail, remedy, view }, panels) {
  const [, figure, rest] = typeset(cost).match(/^((?:up to )?[\d.,]+\s\S+)(.*)$/) ?? [null, cost, ""];
  const line = element("div", { className: "found" },
    element("span", { className: "cost" }, element("b", { textContent: figure }), element("span", { className: "soft", textContent: rest.trim() })),
    element("span", { className: "why" }, element("span", { textContent: text, title: detail ?? "" }),
      element("span", { className: "soft", textContent: remedy ?? "" })));
  if (panels[view]) line.append(element("a", { href: `#panel-${panels[view]}`, textContent: "see it ↓", ariaLabel: `See it: ${text}` }));
  return line;
}

// The mean step as step_breakdown_summary has it, and each step.
async function averageStep(holder, { mean, steps, span }, called = "The average step") {
  const panel = steps ?? (data ? data.steps : await fetchJson(`api/panel/steps${OF_TRACE}`));
  if (!panel.rows) { holder.remove(); return; }
  const [step, total, tail] = ["step", "total_us", "is_tail"].map((name) => column(panel, name).values);
  const rows = step.map((_, row) => row);
  const isStep = step[0] !== null;
  if (mean.total) {
    const parts = CATEGORIES.map(([name, color, word]) => ({ color, word, value: mean[name.replace("_us", "")] ?? 0 }));
    const name = isStep ? called : "The recording";
    holder.append(element("h4", { textContent: mean.kernel ? `${name}: kernels run for ${rounded(mean.kernel, "us")} of ${rounded(mean.total, "us")}`
      : `${name}: ${rounded(mean.total, "us")}` }));
    const large = bar(parts, mean.total);
    large.classList.add("large");
    holder.append(large, legend(parts));
  } else holder.append(element("h4", { textContent: tail.every((each) => each) ? "No step is complete" : `${called}: ${rounded(0, "us")}` }));
  if (!isStep) return;
  const most = largest(total);
  const shownStep = (row) => ({ title: `step ${step[row]}: ${rounded(total[row], "us")}${tail[row] ? ", incomplete" : ""}`,
    onclick: () => document.getElementById("timeline").timeline?.showStep(step[row], span) });
  if (rows.length <= NAMED_STEPS) {
    holder.append(...rows.map((row) => element("button", { type: "button", className: "step", ...shownStep(row) },
      element("span", { textContent: `step ${step[row]}` }), bar(partsOf(panel, row), most),
      element("span", { className: "figure", textContent: rounded(total[row], "us") }))));
    return;
  }
  const columns = rows.map((row) => {
    const made = element("button", { type: "button", className: "column", ...shownStep(row), ariaLabel: shownStep(row).title });
    for (const { value, color } of partsOf(panel, row).reverse()) {
      if (!(value > 0)) continue;
      const part = element("span", { className: `c-${color}` });
      part.style.height = `${(100 * value) / most}%`;
      made.append(part);
    }
    return made;
  });
  holder.append(element("div", { className: "step-columns" }, ...columns),
    element("p", { className: "said", textContent: `Steps ${step[0]} to ${step.at(-1)}, the longest ${rounded(most, "us")}.` }));
}

// What the differences between two runs have besides charts.
"use strict";

// The single row of diff_overview as a table: per figure a line with both runs and the difference.
ELEMENTS.facts = (holder, panel) => {
  const headline = element("p", { className: "headline" });
  const gain = element("p", { className: "gain" });
  holder.append(headline, gain);
  const rows = panel.columns.map((known, n) => ({ ...known, value: panel.values[n][0] }));
  const value = (name) => rows.find((row) => row.name === name);
  const body = element("tbody");
  for (const row of rows.filter((each) => each.name.startsWith("baseline_"))) {
    const name = row.name.slice("baseline_".length);
    const sides = [row, value(`experiment_${name}`), value(`delta_${name}`)];
    if (sides.every((side) => (side?.value ?? null) === null)) continue;
    const share = value(`delta_${name}_pct`)?.value;
    // The difference of two percentages is in points.
    const unit = (side) => (side.name.startsWith("delta_") && row.unit === "pct" ? "points" : row.unit);
    body.append(element("tr", {},
      element("th", { scope: "row", textContent: title({ ...row, name }) }),
      ...sides.map((side) => element("td", {
        textContent: figureOf(side?.value, unit(side ?? row)), title: shown(side?.value, row.unit) })),
      element("td", { textContent: figureOf(share, "pct"), title: shown(share, "pct") })));
  }
  const head = ["", "baseline", "experiment", "difference", "difference %"]
    .map((text) => (text ? element("th", { scope: "col", textContent: text }) : element("td")));
  const table = element("table", { className: "facts" },
    element("thead", {}, element("tr", {}, ...head)), body);
  holder.append(scrollable(element("div", { className: "scrolled" }, table), "Figures of both runs"));
  return compare(headline, gain);
};

function figureOf(value, unit) {
  if (typeof value !== "number") return shown(value, unit);
  return unit === "points" ? `${significant(value)} points` : rounded(value, unit);
}

// Says how much faster or slower a step is, whether that is significant, and what changed most.
async function compare(headline, gain) {
  const panel = data ? data["diff-steps"] : await fetchJson(`api/panel/diff-steps${location.search}`);
  const rows = Array.from({ length: panel.rows }, (_, row) => Object.fromEntries(
    panel.columns.map((known, n) => [known.name, panel.values[n][row]])));
  const total = rows.find((row) => row.category === "total");
  if (typeof total?.delta_mean_us_pct !== "number") {
    headline.textContent = "The runs have no steps in common.";
    return;
  }
  const share = total.delta_mean_us_pct;
  const sure = { true: "significant", false: "may be chance" }[total.significant] ?? "too few steps to tell";
  const p = total.p_value === null ? "" : `, p = ${significant(total.p_value)}`;
  headline.textContent = share === 0 ? "A step takes as long as in the baseline."
    : typeset(`${significant(Math.abs(share))} % ${share < 0 ? "faster" : "slower"} per step than the baseline: ${sure}.`);
  const words = Object.fromEntries(CATEGORIES.map(([name, , word]) => [name.replace("_us", ""), word]));
  const parts = rows.filter((row) => words[row.category] && row.delta_mean_us * share > 0)
    .sort((a, b) => Math.abs(b.delta_mean_us) - Math.abs(a.delta_mean_us));
  const most = parts[0] ? ` Most of it: ${words[parts[0].category]}, ${rounded(parts[0].baseline_mean_us, "us")} to `
    + `${rounded(parts[0].experiment_mean_us, "us")}.` : "";
  gain.textContent = typeset(`${rounded(total.baseline_mean_us, "us")} to ${rounded(total.experiment_mean_us, "us")} per step `
    + `(${total.baseline_steps} and ${total.experiment_steps} steps${p}).${most}`);
}

const BLOCK_COLORS = { step: "step", dataloader: "dataloader", module: "operator", backward: "memset", optimizer: "optimizer",
  annotation: "annotation", unknown: "nothing" };

// The blocks in a block in order of time, of both runs at one scale; what only one run has is hatched.
function alignedBlocks(panel, path, hasInside, go) {
  const [paths, names, kinds, matched] = ["path", "name", "kind", "matched"].map((name) => column(panel, name).values);
  const level = column(panel, "depth").values;
  const sides = ["baseline", "experiment"].map((side) => [side, column(panel, `${side}_us`).values]);
  const depth = path === "/" ? 1 : path.split("/").length;
  const rows = paths.map((_, row) => row).filter((row) => level[row] === depth
    && (path === "/" || paths[row].startsWith(`${path}/`)));
  const sum = (values) => rows.reduce((total, row) => total + (values[row] ?? 0), 0);
  const most = Math.max(...sides.map(([, values]) => sum(values)));
  if (!most) return [];
  return sides.map(([side, values]) => {
    const strip = element("div", { className: "bar large" });
    for (const row of rows) {
      if (!(values[row] > 0)) continue;
      const share = (100 * values[row]) / most;
      const isOpen = hasInside(paths[row]);
      const only = matched[row] ? "" : `, only in the ${side}`;
      const part = element(isOpen ? "button" : "span", { className: `part c-${BLOCK_COLORS[kinds[row]] ?? "annotation"}${matched[row] ? "" : " only"}`,
        title: `${names[row]} ${shown(values[row], "us")}${only}` });
      if (isOpen) Object.assign(part, { type: "button", ariaLabel: part.title, onclick: () => go(paths[row]) });
      part.style.width = `${share}%`;
      if (share > 6) part.append(element("span", { textContent: names[row] }));
      strip.append(part);
    }
    return element("div", { className: "strip" }, element("span", { className: "name", textContent: side }), strip,
      element("span", { className: "figure", textContent: rounded(sum(values), "us") }));
  });
}

// The blocks in a block: a click on a bar shows what is inside, and a button what is around.
CHARTS.blocks = async (holder, panel, label) => {
  const { specification } = panel.chart;
  const { options } = specification.params.find((known) => known.name === "block").bind;
  const [paths, delta] = ["path", "delta_us"].map((name) => column(panel, name).values);
  const find = (path) => options.find((option) => option.path === path);
  let made = null;
  const go = (path) => find(path) && made.view.signal("block", find(path)).runAsync();
  const up = element("button", { type: "button", textContent: "Up", onclick: () => {
    const { path } = made.view.signal("block");
    go(path.slice(0, path.lastIndexOf("/")) || "/");
  } });
  const message = element("span", { className: "said" });
  message.setAttribute("aria-live", "polite");
  const strips = element("div", { className: "aligned" });
  holder.append(element("div", { className: "controls" }, up, message), strips);
  const explain = (path) => {
    const more = delta[paths.indexOf(path)] ?? 0;
    up.disabled = path === "/";
    message.textContent = `${path}: ${shown(Math.abs(more), "us")} ${more < 0 ? "faster" : "slower"}`
      + " than in the baseline. Click a block to see what is in it.";
    strips.replaceChildren(...alignedBlocks(panel, path, find, go));
  };
  made = await chart(holder, specification, () => records(panel), label, (view) => {
    explain(view.signal("block").path);
    view.addSignalListener("block", (_, block) => explain(block.path));
    view.addEventListener("click", (_, item) => item?.datum?.path && go(item.datum.path));
  });
};

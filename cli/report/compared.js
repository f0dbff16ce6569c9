// What the comparison of two runs has besides charts.
"use strict";

// The sentence on the two runs, the mean step of both by category at one scale, and the figures behind it.
ELEMENTS["two-runs"] = (holder, panel) => {
  const rows = records(panel);
  const of = (part) => rows.filter((row) => row.part === part);
  const [headline] = of("headline");
  holder.append(element("p", { className: "headline", textContent: typeset(headline.text) }),
    element("p", { className: "gain", textContent: typeset(headline.detail) ?? "" }));
  const colors = Object.fromEntries(CATEGORIES.map(([name, color]) => [name.replace("_us", ""), color]));
  const changes = of("change");
  const sides = ["baseline", "experiment"].map((side) => ({ side, total: headline[`${side}_value`],
    parts: changes.map((row) => ({ value: row[`${side}_value`], color: colors[row.name], word: row.title })) }));
  const most = Math.max(...sides.map(({ total }) => total ?? 0));
  if (changes.length && most) {
    const whole = of("figure")[0]?.title === "Recording" ? "The recordings" : "The average step of both runs";
    holder.append(element("h4", { textContent: whole }), element("p", { className: "legend" }, ...sides[0].parts.map(({ color, word }) =>
      element("span", {}, element("i", { className: `c-${color}` }), word))), element("div", { className: "aligned" }, ...sides.map(({ side, total, parts }) => {
        const strip = bar(parts, most);
        strip.classList.add("large");
        return stripOf(side, strip, rounded(total, "us"));
      })));
  }
  const cell = (value, unit) => element("td", { textContent: figureOf(value, unit), title: shown(value, unit) });
  const [step, ...figures] = of("figure");
  const lines = [step, ...changes, ...figures].filter(Boolean).map((row) => element("tr", { className: row.certainty === "not significant" ? "noise" : "" },
    element("th", { scope: "row", textContent: row.title, className: row.part }),
    cell(row.baseline_value, row.unit), cell(row.experiment_value, row.unit), signed(cell(row.delta_value, row.delta_unit), row.delta_value),
    share(row.delta_pct), element("td", { textContent: row.certainty ?? "", className: "certainty" })));
  const head = ["", "baseline", "experiment", "difference", "% of the baseline", ""]
    .map((text) => (text ? element("th", { scope: "col", textContent: text }) : element("td")));
  const table = element("table", { className: "facts" },
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...lines));
  holder.append(scrollable(element("div", { className: "scrolled" }, table), "Figures of both runs"));
};

function figureOf(value, unit) {
  if (typeof value !== "number") return shown(value, unit);
  return unit === "points" ? `${significant(value)} points` : rounded(value, unit);
}

function signed(cell, value) {
  cell.textContent = value > 0 ? `+${cell.textContent}` : cell.textContent.replace(/^-/, "−");
  return cell;
}

// A change in percent, as `tracewh diff` prints it: of 99.8 %, something is left.
function share(pct) {
  const text = typeof pct === "number" ? `${pct.toFixed(1)} %` : figureOf(pct, "pct");
  return signed(element("td", { textContent: text, title: shown(pct, "pct") }), pct);
}

function stripOf(name, ...cells) {
  const [strip, figure] = cells;
  return element("div", { className: "strip" }, element("span", { className: "name", textContent: name }), strip,
    element("span", { className: "figure", textContent: figure }));
}

const BLOCK_COLORS = { step: "step", dataloader: "dataloader", module: "operator", backward: "memset", optimizer: "optimizer",
  annotation: "annotation", unknown: "nothing" };
const SIDES = ["baseline", "experiment"];

// Names of blocks for people: the profiler and the views name them differently.
function blockName({ kind, name }) {
  return kind === "unknown" ? "outside of blocks" : name;
}

function inBlock(rows, path) {
  const depth = path === "/" ? 1 : path.split("/").length;
  return rows.filter((row) => row.depth === depth && (path === "/" || row.path.startsWith(`${path}/`)));
}

// What is known of a block, as a sentence for the mouse and for a screen reader.
function describeBlock(row, side) {
  const only = row.matched ? "" : `, only in the ${row.baseline_us === null ? "experiment" : "baseline"}`;
  const noise = row.significant === false ? ", within run-to-run noise" : "";
  return `${blockName(row)}, ${side} ${shown(row[`${side}_us`], "us")}, difference ${difference(row.delta_us)}${only}${noise}`;
}

function difference(us) {
  return us === 0 ? "none" : `${us > 0 ? "+" : "−"}${rounded(Math.abs(us), "us")}`;
}

// The blocks in a block in order of time, of both runs at one scale; what only one run has is hatched.
function alignedBlocks(inside, chosen, isOpen, go) {
  const sum = (side) => inside.reduce((total, row) => total + (row[`${side}_us`] ?? 0), 0);
  const most = Math.max(...SIDES.map(sum));
  if (!most) return [];
  const strips = SIDES.map((side) => {
    const strip = element("div", { className: "bar large" });
    for (const row of inside) {
      const value = row[`${side}_us`];
      if (!(value > 0)) continue;
      const share = (100 * value) / most;
      const classes = ["part", `c-${BLOCK_COLORS[row.kind] ?? "annotation"}`, row.matched ? "" : "only", row.significant === false ? "noise" : ""];
      const part = element("button", { type: "button", className: classes.filter(Boolean).join(" "), title: describeBlock(row, side),
        onclick: () => go(row.path) });
      part.ariaLabel = part.title + (isOpen(row.path) ? "" : ", nothing inside");
      if (row.path === chosen) part.setAttribute("aria-current", "true");
      part.style.width = `${share}%`;
      if (share > 6) part.append(element("span", { textContent: blockName(row) }));
      strip.append(part);
    }
    return stripOf(side, strip, rounded(sum(side), "us"));
  });
  return [...strips, runningDifference(inside, most)];
}

// How far the experiment is ahead or behind, from block to block, below the time of the baseline.
function runningDifference(inside, most) {
  const last = inside.at(-1)?.cumulative_delta_us ?? 0;
  const values = [0, ...inside.map((row) => row.cumulative_delta_us)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const made = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const [width, height] = [1000, 60];
  const y = (value) => 3 + (height - 6) * (high === low ? 0.5 : (high - value) / (high - low));
  const drawing = made("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", class: "running",
    "aria-label": `Running difference, ${difference(low)} to ${difference(high)}, ${difference(last)} at the end` });
  drawing.append(made("line", { x1: 0, x2: width, y1: y(0), y2: y(0), class: "zero" }));
  let [at, before] = [0, 0];
  for (const row of inside) {
    const end = at + (width * (row.baseline_us ?? 0)) / most;
    const after = row.cumulative_delta_us;
    const direction = row.significant === false || after === before ? "noise" : after > before ? "longer" : "shorter";
    const line = made("line", { x1: at, y1: y(before), x2: end, y2: y(after), class: direction });
    const hint = made("title", {});
    hint.textContent = `${blockName(row)}: ${difference(row.delta_us)}, ${difference(after)} so far`;
    line.append(hint);
    drawing.append(line);
    [at, before] = [end, after];
  }
  return stripOf("running difference", drawing, difference(last));
}

// Choosing a block shows what is inside it, here and in the panels of operators and kernels.
ELEMENTS.blocks = async (holder, panel, label) => {
  const { specification } = panel.chart;
  const rows = records(panel).sort((a, b) => a.position - b.position);
  const outer = (path) => path.slice(0, path.lastIndexOf("/")) || "/";
  const open = new Set(rows.filter(({ path }) => path !== "/").map(({ path }) => outer(path)));
  const isOpen = (path) => open.has(path);
  const starts = Object.fromEntries(SIDES.map((side) => [side, panel.values[panel.columns.findIndex((known) => known.name === `${side}_start_ns`)]]));
  const original = Object.fromEntries(records(panel).map((row, n) => [row.path, n]));
  const options = specification?.params.find((known) => known.name === "block").bind.options;
  const find = (path) => options?.find((option) => option.path === path);
  let [made, chosen] = [null, "/"];
  const up = element("button", { type: "button", textContent: "Up", onclick: () => go(outer(chosen)) });
  const message = element("span", { className: "said" });
  message.setAttribute("aria-live", "polite");
  const strips = element("div", { className: "aligned" });
  const explain = () => {
    const row = rows.find((each) => each.path === chosen);
    const more = row.delta_us;
    const only = row.matched ? "" : `, only in the ${row.baseline_us === null ? "experiment" : "baseline"}`;
    const noise = row.significant === false ? ", within run-to-run noise" : row.significant ? ", significant" : "";
    up.disabled = chosen === "/";
    const words = chosen === "/" ? ["shorter", "longer"] : ["faster", "slower"];
    const change = more === 0 ? "no difference" : `${rounded(Math.abs(more), "us")} ${words[Number(more > 0)]} than in the baseline`;
    message.textContent = `${chosen === "/" ? "The whole trace" : chosen}: ${change}`
      + `${only}${noise}. ${isOpen(chosen) ? "Click a block to see what is in it." : "Nothing inside it is recorded as a block."}`;
    const hadFocus = strips.contains(document.activeElement);
    const path = isOpen(chosen) ? chosen : outer(chosen);
    strips.replaceChildren(...alignedBlocks(inBlock(rows, path), chosen, isOpen, go));
    // The block that had the focus is gone.
    if (hadFocus) (strips.querySelector("[aria-current], button.part") ?? up).focus();
  };
  const go = (path) => {
    if (path === chosen) return;
    chosen = path;
    explain();
    if (made && find(path)) {
      made.view.signal("block", find(path)).runAsync().then(() => {
        // Vega takes all options that are objects for the same.
        holder.querySelector(".vega-bind select").selectedIndex = options.indexOf(find(chosen));
      });
    }
    followBlock(path);
    zoomToBlock(rows.find((each) => each.path === path), (side) => starts[side]?.[original[path]] ?? null);
  };
  holder.append(element("div", { className: "controls" }, up, message), strips);
  holder.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !up.disabled) up.click();
  });
  explain();
  if (!specification) {
    holder.append(element("p", { className: "said", textContent: "No differences." }));
    return;
  }
  made = await chart(holder, specification, () => rows, label, (view) => {
    view.addSignalListener("block", (_, block) => go(block.path));
    view.addEventListener("click", (_, item) => item?.datum?.path && go(item.datum.path));
  });
};

// Shows a block of both runs in the timeline, where they start together; `startOf` is in nanoseconds.
function zoomToBlock(row, startOf) {
  const { timeline } = document.getElementById("timeline");
  if (!timeline?.baseline) return;
  const runs = { baseline: timeline.baseline.source.found.run, experiment: timeline.main.source.found.run };
  const [first, other] = SIDES.filter((side) => startOf(side) !== null)
    .sort((a, b) => row[`${b}_host_us`] - row[`${a}_host_us`]);
  if (!first) return;
  const from = BigInt(startOf(first));
  timeline.zoomTo(runs[first], from, from + BigInt(Math.round(1000 * row[`${first}_host_us`])),
    other && { run: runs[other], from_ns: startOf(other) });
}

// ---- Panels that follow the chosen block.

const FOLLOWERS = { "diff-operators": "operator", "diff-kernels": "kernel" };
let choice = 0; // a later choice makes the answer to an earlier one worthless

async function followBlock(path) {
  const mine = ++choice;
  await Promise.all(Object.entries(FOLLOWERS).map(async ([id, word]) => {
    const article = document.getElementById(`panel-${id}`);
    article.setAttribute("aria-busy", "true");
    await show(article);
    let [panel, message] = [null, ""];
    try {
      panel = path === "/" ? article.whole : data ? embeddedBlock(id, path) : await fetchJson(`api/panel/${id}?${withBlock(path)}`);
      if (!panel.rows) message = path === "/" ? panel.empty : `No ${word} of either run is in this block.`;
    } catch (error) {
      message = error.message;
    }
    if (mine !== choice) return;
    await showRows(article, panel, message, path);
    article.removeAttribute("aria-busy");
  }));
}

function withBlock(path) {
  const wanted = new URLSearchParams(OF_TRACE);
  wanted.set("block", path);
  return wanted;
}

async function showRows(article, panel, message, path) {
  const [heading, holder, empty] = ["h3", ".content", ".empty"].map((selector) => article.querySelector(selector));
  const code = article.querySelector("code");
  article.sql ??= code.textContent;
  article.heading ??= heading.textContent;
  heading.textContent = path === "/" ? article.heading : `${article.heading} in ${path}`;
  code.textContent = path === "/" ? article.sql : code.dataset.blockSql.replace("'$block'", () => `'${path.replaceAll("'", "''")}'`);
  showFinding(article, panel);
  empty.textContent = message;
  empty.hidden = !message;
  article.dataset.block = path;
  if (message) holder.replaceChildren();
  else await draw(holder, article.dataset.panel, panel, heading.textContent);
}

// The rows of one block. The file holds those of the blocks that changed most.
function embeddedBlock(id, path) {
  const { paths, said, command, [id]: panel } = data.blocks;
  if (!paths.includes(path)) {
    throw new Error(`${said} Every block: \`tracewh serve\`, or \`${command} --block '${path}'\`.`);
  }
  const of = panel.values[panel.columns.findIndex((known) => known.name === "path")];
  const kept = panel.columns.map((known, n) => ({ known, values: panel.values[n].filter((_, row) => of[row] === path) }))
    .filter(({ known }) => known.name !== "path");
  const differs = (name) => kept.some(({ known, values }) => known.name === name && values.some((value) => Number(value)));
  return { ...panel, columns: kept.map(({ known }) => known), values: kept.map(({ values }) => values), rows: kept[0].values.length,
    chart: { ...panel.chart, specification: choosing(panel.chart.specification, differs) } };
}

// A specification whose choice of columns leaves out those that show nothing.
function choosing(specification, isFilled) {
  const by = specification?.params.find(({ name }) => name === "by");
  const named = by?.bind ? by.bind.options.map((name, n) => [name, by.bind.labels[n]]) : [[by?.value, ""]];
  const filled = named.filter(([name]) => isFilled(name));
  if (!filled.length) return null;
  const [names, labels] = [0, 1].map((n) => filled.map((each) => each[n]));
  const { bind, ...rest } = { ...by, value: names[0] };
  const chosen = names.length > 1 ? { ...rest, bind: { ...bind, options: names, labels } } : rest;
  return { ...specification, params: specification.params.map((known) => (known === by ? chosen : known)) };
}

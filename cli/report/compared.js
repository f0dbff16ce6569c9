// What the differences between two runs have besides charts.
"use strict";

// The single row of diff_overview as a table: per figure a line with both runs and the difference.
ELEMENTS.facts = (holder, panel) => {
  const rows = panel.columns.map((known, n) => ({ ...known, value: panel.values[n][0] }));
  const value = (name) => rows.find((row) => row.name === name);
  const body = element("tbody");
  for (const row of rows.filter((each) => each.name.startsWith("baseline_"))) {
    const name = row.name.slice("baseline_".length);
    const sides = [row, value(`experiment_${name}`), value(`delta_${name}`)];
    if (sides.every((side) => (side?.value ?? null) === null)) continue;
    const share = value(`delta_${name}_pct`)?.value;
    body.append(element("tr", {},
      element("th", { scope: "row", textContent: title({ ...row, name }) }),
      ...sides.map((side) => element("td", { textContent: side ? shown(side.value, row.unit) : "" })),
      element("td", { textContent: shown(share, "pct") })));
  }
  const head = ["", "baseline", "experiment", "difference", "difference %"]
    .map((text) => (text ? element("th", { scope: "col", textContent: text }) : element("td")));
  const table = element("table", { className: "facts" },
    element("thead", {}, element("tr", {}, ...head)), body);
  holder.append(scrollable(element("div", { className: "scrolled" }, table), "Figures of both runs"));
};

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
  holder.append(element("div", { className: "controls" }, up, message));
  const explain = (path) => {
    const more = delta[paths.indexOf(path)] ?? 0;
    up.disabled = path === "/";
    message.textContent = `${path}: ${shown(Math.abs(more), "us")} ${more < 0 ? "faster" : "slower"}`
      + " than in the baseline. Click a bar to see the blocks in it.";
  };
  made = await chart(holder, specification, () => records(panel), label, (view) => {
    explain(view.signal("block").path);
    view.addSignalListener("block", (_, block) => explain(block.path));
    view.addEventListener("click", (_, item) => item?.datum?.path && go(item.datum.path));
  });
};

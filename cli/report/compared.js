// The charts of the differences between two runs.
"use strict";

// Colors of longer and shorter times.
const [WORSE, BETTER] = ["#d1603d", "#3b8f6b"];

Object.assign(CHARTS, {
  // The single row of diff_overview as a table: per figure a line with both runs and the difference.
  facts(holder, panel) {
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
      .map((text) => element("th", { scope: "col", textContent: text }));
    holder.append(element("table", { className: "facts" },
      element("thead", {}, element("tr", {}, ...head)), body));
  },

  // The largest differences, in both directions.
  delta(holder, panel, spec, label) {
    const names = column(panel, spec.label).values;
    const choices = spec.values.map((name) => column(panel, name))
      .filter((part) => part?.values.some((value) => value));
    if (!choices.length) {
      holder.append(element("p", { className: "said", textContent: "No differences." }));
      return;
    }
    const box = element("div");
    const draw = (by) => {
      box.replaceChildren();
      const rows = names.map((_, row) => row).filter((row) => by.values[row])
        .sort((a, b) => Math.abs(by.values[b]) - Math.abs(by.values[a])).slice(0, TOP[0]).reverse();
      const x = axis(by.unit, rows.map((row) => by.values[row]));
      chart(box, 60 + 22 * rows.length, label)(() => ({
        tooltip: tooltip(x),
        grid: { left: 12, right: 40, top: 8, bottom: 8, containLabel: true },
        xAxis: { type: "value", name: x.name },
        yAxis: { type: "category", data: rows.map((row) => String(names[row])),
          axisLabel: { width: 320, overflow: "truncate" } },
        series: [{ name: "experiment - baseline", type: "bar", barMaxWidth: 18,
          data: rows.map((row) => ({ value: x.of(by.values[row]),
            itemStyle: { color: by.values[row] > 0 ? WORSE : BETTER } })) }],
      }));
    };
    if (choices.length > 1) {
      holder.append(element("div", { className: "controls" },
        picker("By", choices.map((part) => part.name), choices.map(title), (name) =>
          draw(choices.find((part) => part.name === name)))));
    }
    holder.append(box);
    draw(choices[0]);
  },

  // The child blocks of a block in order of time: the difference of each, and the cumulative sum.
  blocks(holder, panel, spec, label) {
    const [path, depth, name] = ["path", "depth", "name"].map((each) => column(panel, each).values);
    const delta = column(panel, "delta_us");
    const sum = column(panel, "cumulative_delta_us");
    const within = (row, block) => block === "/" ? path[row] !== "/" : path[row].startsWith(`${block}/`);
    let block = "/";
    const up = element("button", { type: "button", textContent: "Up", onclick: () => {
      block = block.slice(0, block.lastIndexOf("/")) || "/";
      draw();
    } });
    const message = element("span", { className: "said" });
    message.setAttribute("aria-live", "polite");
    const box = element("div");
    holder.append(element("div", { className: "controls" }, up, message), box);
    const draw = () => {
      box.replaceChildren();
      const at = path.indexOf(block);
      const rows = path.map((_, row) => row)
        .filter((row) => within(row, block) && depth[row] === depth[at] + 1);
      up.disabled = block === "/";
      const more = delta.values[at] ?? 0;
      message.textContent = `${block}: ${shown(Math.abs(more), "us")} ${more < 0 ? "faster" : "slower"}`
        + " than in the baseline. Click a bar to see the blocks in it.";
      const y = axis("us", [...rows.map((row) => delta.values[row]), ...rows.map((row) => sum.values[row])]);
      chart(box, 340, label)(() => ({
        tooltip: tooltip(y),
        legend: { top: 0 },
        grid: { left: 12, right: 16, top: 48, bottom: rows.length > 40 ? 56 : 8, containLabel: true },
        xAxis: { type: "category", data: rows.map((row) => name[row]) },
        yAxis: { type: "value", name: y.name },
        dataZoom: rows.length > 40 ? [{ type: "slider", bottom: 8 }] : [],
        series: [
          { name: "difference", type: "bar", barMaxWidth: 48,
            data: rows.map((row) => ({ value: y.of(delta.values[row]),
              itemStyle: { color: delta.values[row] > 0 ? WORSE : BETTER } })) },
          { name: "cumulative difference", type: "line", step: "middle", symbol: "none",
            data: rows.map((row) => y.of(sum.values[row])) },
        ],
      }), { click: (event) => {
        const chosen = path[rows[event.dataIndex]];
        if (path.some((_, row) => within(row, chosen))) {
          block = chosen;
          draw();
        }
      } });
    };
    draw();
  },
});

// The charts of a panel's rows, by kind.
"use strict";

const TOP = [10, 20, 50];
const drawn = new Map(); // element -> function that redraws its chart

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function chart(holder, height, label) {
  const box = element("div", { className: "chart" });
  box.style.height = `${height}px`;
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", label);
  holder.append(box);
  let made = null;
  const draw = (build, events = {}) => {
    made?.dispose();
    made = echarts.init(box, isDark() ? "dark" : null, { renderer: "canvas" });
    made.setOption({
      animation: false,
      backgroundColor: "transparent",
      aria: { enabled: true },
      ...build(),
    });
    for (const [name, act] of Object.entries(events)) made.on(name, act);
    drawn.set(box, () => draw(build, events));
    return made;
  };
  new ResizeObserver(() => made?.resize()).observe(box);
  return draw;
}

// Chooses the unit of an axis by its largest value, and converts values to that unit.
function axis(unit, values) {
  const [size, word] = scale(unit, largest(values));
  return {
    name: word,
    of: (value) => (value === null || value === undefined ? null : value / size),
    shown: (value) => shown(value * size, unit),
  };
}

function tooltip({ shown: format }) {
  return { trigger: "axis", axisPointer: { type: "shadow" }, confine: true, renderMode: "richText",
    valueFormatter: (value) => (value === null ? "" : format(value)) };
}

const PALETTE = [["#f4a261", "#e9c46a", "#f0b27a"], ["#9c4a26", "#8a6023", "#7c3a3a"]];
const HINT = "Drag over the curve, or enter a time range, to list the memory blocks that were allocated then.";

const CHARTS = {
  // A stacked bar for each row.
  stacked(holder, panel, spec, label) {
    const x = column(panel, spec.x);
    const by = spec.by && column(panel, spec.by);
    const parts = spec.values.map((name) => column(panel, name)).filter((part) => part);
    const present = parts.filter((part) => part.values.some((value) => value));
    // The row of the whole trace is left out: it would dwarf the steps.
    const steps = x.values.map((_, row) => row).filter((row) => x.values[row] !== null);
    const rows = steps.length ? steps : x.values.map((_, row) => row);
    const totals = rows.map((row) => present.reduce((sum, p) => sum + (p.values[row] ?? 0), 0));
    const several = by && new Set(by.values).size > 1;
    const names = rows.map((row) => (several ? `${by.values[row]}, ` : "")
      + (x.values[row] === null ? "all" : `step ${x.values[row]}`));
    const y = axis(present[0]?.unit ?? "-", totals);
    chart(holder, 340, label)(() => ({
      tooltip: tooltip(y),
      legend: { type: "scroll", top: 0 },
      grid: { left: 12, right: 16, top: 56, bottom: names.length > 40 ? 56 : 8, containLabel: true },
      xAxis: { type: "category", data: names },
      yAxis: { type: "value", name: y.name },
      dataZoom: names.length > 40 ? [{ type: "slider", bottom: 8 }] : [],
      series: present.map((part) => ({
        name: title(part), type: "bar", stack: "all", barMaxWidth: 64,
        data: rows.map((row) => y.of(part.values[row])),
      })),
    }));
  },

  pie(holder, panel, spec, label) {
    const names = column(panel, spec.label).values;
    const part = column(panel, spec.value);
    chart(holder, 300, label)(() => ({
      tooltip: { trigger: "item", confine: true, renderMode: "richText",
        formatter: (at) => `${at.name}: ${shown(at.value, part.unit)} (${at.percent} %)` },
      legend: { type: "scroll", orient: "vertical", left: 0, top: "middle" },
      series: [{ type: "pie", radius: ["40%", "75%"], center: ["60%", "50%"],
        data: names.map((name, row) => ({ name, value: part.values[row] })),
        label: { formatter: "{b}: {d} %" } }],
    }));
  },

  // The rows with the largest values of a column; one bar for the others.
  top(holder, panel, spec, label) {
    const names = column(panel, spec.label).values;
    const choices = spec.values.map((name) => column(panel, name))
      .filter((part) => part && part.values.some((value) => value));
    if (!choices.length) return;
    let [by, most] = [choices[0], TOP[0]];
    const bar = element("div", { className: "controls" },
      picker("By", choices.map((part) => part.name), choices.map(title), (name) => {
        by = choices.find((part) => part.name === name);
        draw();
      }),
      picker("Top", TOP, TOP, (value) => { most = Number(value); draw(); }));
    holder.append(bar);
    const box = element("div");
    holder.append(box);
    const draw = () => {
      box.replaceChildren();
      const order = names.map((_, row) => row).filter((row) => by.values[row] > 0)
        .sort((a, b) => by.values[b] - by.values[a]);
      const first = order.slice(0, most);
      const rest = order.slice(most).reduce((sum, row) => sum + by.values[row], 0);
      const bars = first.map((row) => [String(names[row]), by.values[row]]);
      if (rest && spec.sums.includes(by.name)) bars.push([`${order.length - most} others`, rest]);
      bars.reverse();
      const x = axis(by.unit, bars.map((bar) => bar[1]));
      chart(box, 60 + 22 * bars.length, label)(() => ({
        tooltip: tooltip(x),
        grid: { left: 12, right: 40, top: 8, bottom: 8, containLabel: true },
        xAxis: { type: "value", name: x.name },
        yAxis: { type: "category", data: bars.map((bar) => bar[0]),
          axisLabel: { width: 320, overflow: "truncate" } },
        series: [{ name: title(by), type: "bar", data: bars.map((bar) => x.of(bar[1])),
          barMaxWidth: 18 }],
      }));
    };
    draw();
  },

  curve(holder, panel, spec, label) {
    const by = column(panel, spec.by);
    const x = column(panel, spec.x);
    const most = new Map();
    by.values.forEach((device, row) => most.set(device, Math.max(most.get(device) ?? 0,
      ...spec.values.map((name) => column(panel, name).values[row] ?? 0))));
    const devices = [...most.keys()].sort((a, b) => most.get(b) - most.get(a));
    let chosen = devices[0];
    const box = element("div");
    const message = element("p", { className: "said" });
    message.setAttribute("aria-live", "polite");
    // Selects a time range without a mouse.
    const [since, until] = ["From", "to"].map((text) => {
      const field = element("input", { type: "number", size: 8, onchange: () => {
        if (since.value === "" && until.value === "") filter(null, null);
        else filter(Number(since.value || 0), until.value === "" ? Infinity : Number(until.value));
      } });
      return { text, field, get value() { return field.value; } };
    });
    const filter = async (from, to) => {
      // The table is further down and may not be drawn yet.
      await show(document.getElementById(`panel-${spec.filters}`));
      const table = tables.get(spec.filters);
      if (!table) return;
      if (from === null) {
        table.clearFilter();
        message.textContent = HINT;
        return;
      }
      table.setFilter((row) => row.device === chosen
        && (row.allocated_ms ?? -Infinity) <= to && (row.released_ms ?? Infinity) >= from);
      const when = to === Infinity ? `after ${shown(from, "ms")}`
        : `between ${shown(from, "ms")} and ${shown(to, "ms")}`;
      message.textContent = `Blocks of ${chosen} allocated ${when}, listed below: ${table.getDataCount("active")}.`;
    };
    const draw = () => {
      box.replaceChildren();
      const rows = by.values.map((_, row) => row).filter((row) => by.values[row] === chosen);
      const parts = spec.values.map((name) => column(panel, name))
        .filter((part) => rows.some((row) => part.values[row]));
      const y = axis(parts[0]?.unit ?? "bytes", parts.flatMap((p) => rows.map((row) => p.values[row])));
      const made = chart(box, 340, label)(() => ({
        tooltip: tooltip(y),
        aria: { enabled: false },
        legend: { top: 0 },
        toolbox: { feature: { brush: { type: ["lineX", "clear"] } } },
        brush: { xAxisIndex: 0, brushMode: "single", throttleType: "debounce", throttleDelay: 150 },
        grid: { left: 12, right: 16, top: 48, bottom: 24, containLabel: true },
        xAxis: { type: "value", name: "ms", nameLocation: "middle", nameGap: 24 },
        yAxis: { type: "value", name: y.name },
        series: parts.map((part) => ({ name: title(part), type: "line", step: "end",
          showSymbol: false, data: rows.map((row) => [x.values[row], y.of(part.values[row])]) })),
      }), {
        brushSelected: (event) => {
          const range = event.batch[0]?.areas[0]?.coordRange;
          filter(range ? range[0] : null, range ? range[1] : null);
        },
      });
      made.dispatchAction({ type: "takeGlobalCursor", key: "brush",
        brushOption: { brushType: "lineX", brushMode: "single" } });
    };
    if (devices.length > 1) {
      holder.append(picker("Device", devices, devices, (device) => { chosen = device; draw(); }));
    }
    holder.append(box, element("div", { className: "controls" },
      ...[since, until].map(({ text, field }) =>
        element("label", { className: "picker" }, `${text} `, field, " ms"))), message);
    message.textContent = HINT;
    draw();
  },

  flame(holder, panel, spec, label) {
    const paths = column(panel, spec.path).values;
    const choices = spec.values.map((name) => column(panel, name))
      .filter((part) => part && part.values.some((value) => value));
    if (!choices.length) return;
    let by = choices[0];
    let root = null;
    const box = element("div");
    const up = element("button", { type: "button", textContent: "All", hidden: true,
      onclick: () => { root = null; draw(); } });
    const controls = element("div", { className: "controls" });
    if (choices.length > 1) {
      controls.append(picker("By", choices.map((part) => part.name), choices.map(title), (name) => {
        by = choices.find((part) => part.name === name);
        root = null;
        draw();
      }));
    }
    controls.append(up);
    holder.append(controls, box);
    const tree = () => {
      const top = { name: "all", path: "", own: 0, total: 0, depth: 0, children: new Map() };
      paths.forEach((path, row) => {
        const value = by.values[row] ?? 0;
        let at = top;
        at.total += value;
        for (const name of path.split(";")) {
          if (!at.children.has(name)) {
            at.children.set(name, { name, path: at.path ? `${at.path};${name}` : name, total: 0,
              depth: at.depth + 1, children: new Map() });
          }
          at = at.children.get(name);
          at.total += value;
        }
      });
      return top;
    };
    const find = (top) => (root ? root.split(";") : [])
      .reduce((at, name) => at?.children.get(name), top) ?? top;
    const draw = () => {
      box.replaceChildren();
      const from = find(tree());
      up.hidden = !root;
      const cells = [];
      let deepest = 0;
      const place = (node, start) => {
        // Skips frames narrower than a pixel on any screen.
        if (node.total < from.total / 4000) return;
        const level = node.depth - from.depth;
        deepest = Math.max(deepest, level);
        cells.push({ name: node.name, path: node.path, value: [level, start, start + node.total] });
        for (const child of node.children.values()) {
          place(child, start);
          start += child.total;
        }
      };
      place(from, 0);
      chart(box, 20 * (deepest + 1) + 48, label)(() => ({
        aria: { enabled: false }, // a screen reader would read every frame
        tooltip: { confine: true, renderMode: "richText", formatter: (at) => {
          const total = at.value[2] - at.value[1];
          return `${at.name}\n${shown(total, by.unit)}, ${number.format((100 * total) / from.total)} %`;
        } },
        grid: { left: 8, right: 8, top: 4, bottom: 28 },
        xAxis: { type: "value", max: from.total || 1,
          axisLabel: { formatter: (value) => shown(value, by.unit) } },
        yAxis: { type: "value", inverse: true, show: false, max: deepest + 1 },
        series: [{ type: "custom", data: cells, encode: { x: [1, 2], y: 0 }, renderItem: (at, api) => {
          const [left, y] = api.coord([api.value(1), api.value(0)]);
          const [right] = api.coord([api.value(2), api.value(0)]);
          const width = Math.max(right - left - 1, 0.5);
          const { name } = cells[at.dataIndex];
          const tone = [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0);
          return { type: "rect", shape: { x: left, y, width, height: 19 },
            style: { fill: PALETTE[isDark() ? 1 : 0][tone % 3] },
            textContent: width < 24 ? undefined : { style: { text: name, width: width - 6,
              overflow: "truncate", fill: isDark() ? "#fff" : "#222", fontSize: 11 } },
            textConfig: { position: "insideLeft" } };
        } }],
      }), { click: (at) => { root = cells[at.dataIndex].path; draw(); } });
    };
    draw();
  },
};

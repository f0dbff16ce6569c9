// Draws the panels of a report from the rows that the page carries.
"use strict";

// The rows are in the page, or its server is asked for them.
const carried = document.getElementById("data");
const data = carried && JSON.parse(carried.textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const TOP = [10, 20, 50];
// With so few rows there is nothing to search.
const FEW = 8;
const drawn = new Map(); // element -> function that draws its chart again
const tables = new Map(); // panel -> Tabulator

// ---- Values as people read them. Every figure keeps its unit.

const SCALES = {
  us: [[1e6, "s"], [1e3, "ms"], [1, "µs"]],
  ms: [[1e3, "s"], [1, "ms"]],
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};

// A number of ns beyond this is a moment, not a length: it is the year 1973.
const EPOCH = 1e17;

function scale(unit, largest) {
  const scales = SCALES[unit];
  if (!scales) return [1, unit === "pct" ? "%" : ""];
  return scales.find(([size]) => Math.abs(largest) >= size) ?? scales.at(-1);
}

function shown(value, unit) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return Array.isArray(value) ? value.join(" × ") : String(value);
  if (unit === "ns" && value > EPOCH) return new Date(value / 1e6).toISOString();
  const [size, word] = scale(unit, value);
  const digits = Math.abs(value / size) >= 100 ? 1 : 3;
  const text = (value / size).toLocaleString("en", { maximumFractionDigits: digits });
  return word ? `${text} ${word}` : text;
}

function title(column) {
  const bare = column.unit in SCALES || column.unit === "pct"
    ? column.name.replace(/_(us|ms|ns|bytes|pct)$/, "") : column.name;
  return bare.replaceAll("_", " ") + (column.unit === "pct" ? " %" : "");
}

// ---- Elements

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function picker(label, values, names, onChange) {
  const select = element("select", { onchange: () => onChange(select.value) });
  values.forEach((value, n) => select.append(element("option", { value, textContent: names[n] })));
  return element("label", { className: "picker" }, `${label} `, select);
}

function column(panel, name) {
  const position = panel.columns.findIndex((known) => known.name === name);
  return position < 0 ? null : { ...panel.columns[position], values: panel.values[position] };
}

function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value ?? 0)), 0);
}

// ---- Charts

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

// An axis in the unit that suits its values, and the values in that unit.
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
// Longer is worse.
const [WORSE, BETTER] = ["#d1603d", "#3b8f6b"];
const HINT = "Drag over the curve, or fill in from and to, to list the blocks that lived then.";

const CHARTS = {
  // A bar for each row, its parts above one another.
  stacked(holder, panel, spec, label) {
    const x = column(panel, spec.x);
    const by = spec.by && column(panel, spec.by);
    const parts = spec.values.map((name) => column(panel, name)).filter((part) => part);
    const present = parts.filter((part) => part.values.some((value) => value));
    // Beside steps, the row of the whole trace would dwarf them.
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

  // The rows with the most of a column, the rest as one bar.
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
      if (rest && by.unit !== "-") bars.push([`${order.length - most} others`, rest]);
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
    const said = element("p", { className: "said" });
    said.setAttribute("aria-live", "polite");
    // The same without a mouse.
    const [since, until] = ["From", "to"].map((text) => {
      const field = element("input", { type: "number", size: 8, onchange: () => {
        if (since.value === "" && until.value === "") filter(null, null);
        else filter(Number(since.value || 0), until.value === "" ? Infinity : Number(until.value));
      } });
      return { text, field, get value() { return field.value; } };
    });
    const filter = async (from, to) => {
      // The table may be further down and not be drawn yet.
      await show(document.getElementById(`panel-${spec.filters}`));
      const table = tables.get(spec.filters);
      if (!table) return;
      if (from === null) {
        table.clearFilter();
        said.textContent = HINT;
        return;
      }
      table.setFilter((row) => row.device === chosen
        && (row.allocated_ms ?? -Infinity) <= to && (row.released_ms ?? Infinity) >= from);
      const when = to === Infinity ? `after ${shown(from, "ms")}`
        : `between ${shown(from, "ms")} and ${shown(to, "ms")}`;
      said.textContent = `Below: blocks of ${chosen} that lived ${when}: ${table.getDataCount("active")}.`;
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
        element("label", { className: "picker" }, `${text} `, field, " ms"))), said);
    said.textContent = HINT;
    draw();
  },

  // The one row of a comparison as a table: a figure a line, both sides and the difference.
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

  // The largest differences, in either direction.
  delta(holder, panel, spec, label) {
    const names = column(panel, spec.label).values;
    const choices = spec.values.map((name) => column(panel, name))
      .filter((part) => part?.values.some((value) => value));
    if (!choices.length) {
      holder.append(element("p", { className: "said", textContent: "Nothing differs." }));
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

  // The blocks in a block, in order of time: each difference, and their sum so far.
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
    const said = element("span", { className: "said" });
    said.setAttribute("aria-live", "polite");
    const box = element("div");
    holder.append(element("div", { className: "controls" }, up, said), box);
    const draw = () => {
      box.replaceChildren();
      const at = path.indexOf(block);
      const rows = path.map((_, row) => row)
        .filter((row) => within(row, block) && depth[row] === depth[at] + 1);
      up.disabled = block === "/";
      const more = delta.values[at] ?? 0;
      said.textContent = `${block}: ${shown(Math.abs(more), "us")} ${more < 0 ? "less" : "more"} than`
        + " in the baseline. A click on a bar shows what is in it.";
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
          { name: "sum of the differences", type: "line", step: "middle", symbol: "none",
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
        // What is narrower than a pixel on any screen is not seen.
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
        aria: { enabled: false }, // it would read out every cell
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

// ---- Tables

// A number that is looked for has the unit in which most people would write it.
function least(column) {
  const word = scale(column.unit, largest(column.values))[1];
  return word ? `at least, ${word}` : "at least";
}

function atLeast(column) {
  const [size] = scale(column.unit, largest(column.values));
  return (wanted, value) => Number.isNaN(Number(wanted)) || (value ?? 0) >= Number(wanted) * size;
}

function listed(holder, id, panel) {
  const known = panel.columns.map((column, n) => ({ ...column, values: panel.values[n] }))
    .filter((column) => column.values.some((value) => value !== null));
  const box = element("div", { className: "table" });
  holder.append(box);
  const rows = Array.from({ length: panel.rows }, (_, row) =>
    Object.fromEntries(panel.columns.map((known, n) => [known.name, panel.values[n][row]])));
  const search = element("input", { type: "search", placeholder: "Search" });
  search.setAttribute("aria-label", "Search all columns");
  const count = element("span", { className: "said" });
  count.setAttribute("aria-live", "polite");
  if (panel.rows > FEW) {
    holder.insertBefore(element("div", { className: "controls" }, search, count), box);
  }
  const table = new Tabulator(box, {
    data: rows,
    layout: "fitDataFill",
    maxHeight: "420px",
    movableColumns: true,
    columns: known.map((column) => ({
      title: title(column),
      field: column.name,
      headerTooltip: column.meaning || false,
      hozAlign: column.numeric ? "right" : "left",
      cssClass: column.name === "message" ? "prose" : "",
      ...(column.name === "message" ? { width: 760, variableHeight: true } : { maxWidth: 640 }),
      sorter: column.numeric ? "number" : "string",
      sorterParams: { alignEmptyValues: "bottom" },
      headerSortStartingDir: column.numeric ? "desc" : "asc",
      headerFilter: panel.rows > FEW ? "input" : false,
      headerFilterPlaceholder: column.numeric ? least(column) : "contains",
      headerFilterFunc: column.numeric ? atLeast(column) : "like",
      formatter: (cell) => document.createTextNode(shown(cell.getValue(), column.unit)),
      tooltip: (_, cell) => String(cell.getValue() ?? ""),
    })),
  });
  const said = () => {
    const found = table.getDataCount("active");
    count.textContent = found === panel.rows ? `${panel.rows} rows` : `${found} of ${panel.rows} rows`;
  };
  const built = new Promise((done) => table.on("tableBuilt", done));
  table.on("tableBuilt", () => {
    tables.set(id, table);
    for (const head of box.querySelectorAll(".tabulator-col-sorter-element, .tabulator-sortable")) {
      head.tabIndex = 0;
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && event.target === head) head.click();
      });
    }
    said();
  });
  table.on("dataFiltered", () => setTimeout(said));
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    table.setFilter((row) => Object.values(row).some(
      (value) => String(value ?? "").toLowerCase().includes(wanted)));
  });
  return built;
}

// ---- The page

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
      else said.hidden = false;
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
  const run = async () => {
    said.textContent = "…";
    try {
      const panel = await ask("api/sql", { method: "POST", body: JSON.stringify({ sql: text.value }),
        headers: { "Content-Type": "application/json" } });
      said.textContent = panel.said;
      const holder = asking.querySelector(".content");
      if (panel.rows) await draw(holder, "ask", { ...panel, table: true }, "Rows");
      else holder.replaceChildren();
    } catch (error) {
      said.textContent = error.message;
    }
  };
  asking.querySelector("button").addEventListener("click", run);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  });
  asking.querySelector("select").addEventListener("change", (event) => {
    text.value = event.target.selectedOptions[0].dataset.sql;
    run();
  });
}

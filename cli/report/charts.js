// Draws the charts of a panel: its Vega-Lite specification, and what a specification cannot hold.
"use strict";

const drawn = new Map(); // element -> function that draws its chart again, in the present colors
// Width of a letter in pixels, the part of a chart that names may take, and limits of their letters.
const [LETTER, NAMES, FEWEST, MOST] = [6.4, 0.34, 14, 56];
const HINT = "Drag over the curve, or enter a time range, to list the memory blocks that were allocated then.";

document.addEventListener("theme", () => {
  for (const [box, draw] of drawn) {
    if (box.isConnected) draw();
    else drawn.delete(box);
  }
});

// Colors of texts and lines; the specification has those of the data.
function colors() {
  const style = getComputedStyle(document.documentElement);
  const [ink, soft, line] = ["--ink", "--soft", "--line"].map((name) => style.getPropertyValue(name).trim());
  const font = "system-ui, sans-serif";
  return {
    background: "transparent",
    font,
    aria: false,
    view: { stroke: null },
    text: { color: soft },
    axis: { labelColor: ink, titleColor: soft, gridColor: line, domainColor: line, tickColor: line,
      labelFontSize: 12, titleFontWeight: "normal" },
    legend: { labelColor: ink, titleColor: soft, labelFontSize: 12, titleFontWeight: "normal" },
  };
}

// Rows as Vega reads them. A chart cannot show integers beyond a number, NaN and infinities.
function records(panel) {
  const columns = panel.columns.map((known) => column(panel, known.name));
  return Array.from({ length: panel.rows }, (_, row) =>
    Object.fromEntries(columns.map((known) => [known.name, known.values[row]])));
}

// Draws a specification. Returns an object with its view, and with a function that draws other rows.
async function chart(holder, specification, rows, label, onView = () => {}) {
  const controls = element("div", { className: "controls" });
  const box = element("div", { className: "chart" });
  holder.append(controls, box);
  const letters = () => Math.round(Math.min(MOST, Math.max(FEWEST, (box.clientWidth * NAMES) / LETTER)));
  const shownChart = { view: null };
  let last = Promise.resolve();
  const draw = async () => {
    const before = shownChart.view;
    const chosen = (known) => {
      if (known.name === "letters") return letters();
      return before && known.bind ? before.signal(known.name) : known.value;
    };
    const params = specification.params.map((known) => ("select" in known ? known : { ...known, value: chosen(known) }));
    controls.replaceChildren();
    before?.finalize();
    const sized = { width: box.clientWidth, autosize: "pad", params, datasets: { rows: rows() } };
    const description = specification.description ?? label; // Vega makes it the name of the box
    const made = await vegaEmbed(box, { ...specification, ...sized, description }, {
      actions: false,
      ast: true, // evaluates expressions without eval, which the page forbids
      bind: controls,
      config: colors(),
      defaultStyle: false,
      // Vega-Lite prints a warning if it has to fit the width of a chart that is as high as its bars.
      patch: (compiled) => ({ ...compiled, autosize: specification.autosize }),
      renderer: specification.usermeta?.renderer ?? "svg",
      tooltip: { theme: isDark() ? "dark" : "light" },
    });
    box.setAttribute("role", "img");
    // The box has a name, and the table below has the values.
    for (const drawing of box.querySelectorAll("svg, canvas")) drawing.setAttribute("aria-hidden", "true");
    shownChart.view = made.view;
    onView(made.view);
  };
  shownChart.draw = () => { last = last.then(draw); return last; };
  drawn.set(box, shownChart.draw);
  await shownChart.draw();
  new ResizeObserver(() => {
    const { view } = shownChart;
    if (box.clientWidth && view.width() !== box.clientWidth) {
      view.width(box.clientWidth).signal("letters", letters()).runAsync();
    }
  }).observe(box);
  return shownChart;
}

// What is drawn with elements of the page instead of a specification, by kind.
const ELEMENTS = {};

const CHARTS = {
  // A range of the curve filters the rows of another panel.
  async curve(holder, panel, label) {
    const { specification, filters } = panel.chart;
    const message = element("p", { className: "said", textContent: HINT });
    message.setAttribute("aria-live", "polite");
    let made = null;
    let waiting = 0;
    const filter = async (from, to) => {
      // The table is further down and may not be drawn yet.
      await show(document.getElementById(`panel-${filters}`));
      const table = tables.get(filters);
      if (!table) return;
      if (from === null) {
        table.filter(null);
        message.textContent = HINT;
        return;
      }
      const device = made.view.signal("device");
      const count = table.filter((row) => row.device === device
        && (row.allocated_ms ?? -Infinity) <= to && (row.released_ms ?? Infinity) >= from);
      const when = to === Infinity ? `after ${shown(from, "ms")}`
        : `between ${shown(from, "ms")} and ${shown(to, "ms")}`;
      message.textContent = `Blocks of ${device} allocated ${when}, listed below: ${count}.`;
    };
    // Selects a time range without a mouse.
    const [since, until] = ["From", "to"].map((text) => ({ text,
      field: element("input", { type: "number", size: 8, onchange: () => {
        const [from, to] = [since.field.value, until.field.value];
        if (from === "" && to === "") filter(null, null);
        else filter(Number(from || 0), to === "" ? Infinity : Number(to));
      } }) }));
    const form = element("div", { className: "controls" }, ...[since, until].map(({ text, field }) =>
      element("label", { className: "picker" }, `${text} `, field, " ms")));
    made = await chart(holder, specification, () => records(panel), label, (view) => {
      view.addSignalListener("brush", (_, brush) => {
        clearTimeout(waiting);
        const [from, to] = Object.values(brush)[0] ?? [null, null];
        waiting = setTimeout(() => filter(from, to), 150);
      });
    });
    holder.append(form, message);
  },

  // A click on a frame makes it fill the width.
  async flame(holder, panel, label) {
    const { specification, frames } = panel.chart;
    const names = Object.keys(frames);
    let by = names[0];
    const all = element("button", { type: "button", textContent: "All", hidden: true,
      onclick: () => made.view.data("zoom_store", []).runAsync() });
    const bar = element("div", { className: "controls" });
    holder.append(bar);
    const unpacked = ({ names, name, ...rest }) => name.map((number, row) => ({ name: names[number],
      ...Object.fromEntries(Object.entries(rest).map(([key, values]) => [key, values[row]])) }));
    const made = await chart(holder, specification, () => unpacked(frames[by]), label,
      (view) => {
        all.hidden = true;
        view.addSignalListener("zoom", (_, zoom) => { all.hidden = !zoom.start; });
      });
    if (names.length > 1) {
      bar.append(picker("By", names, names.map((name) => title(column(panel, name))), (name) => {
        by = name;
        made.draw();
      }));
    }
    bar.append(all);
  },
};

function drawChart(holder, panel, label) {
  const { kind, specification } = panel.chart;
  if (ELEMENTS[kind]) return ELEMENTS[kind](holder, panel, label);
  if (specification) return (CHARTS[kind] ?? plainChart)(holder, panel, label);
  if (panel.chart.undrawn) holder.append(element("p", { className: "said", textContent: panel.chart.undrawn }));
  if (kind === "delta") {
    const isKnown = panel.chart.values.some((name) => column(panel, name)?.values.some((value) => value !== null));
    holder.append(element("p", { className: "said",
      textContent: isKnown ? "No differences." : "Only one of the runs recorded this, so there is no difference." }));
  }
  return null;
}

function plainChart(holder, panel, label) {
  return chart(holder, panel.chart.specification, () => records(panel), label);
}

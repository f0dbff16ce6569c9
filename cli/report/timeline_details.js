// What is known of the selected event, and of a selected range of time, below a timeline.
"use strict";

// In a sum of a range: all events that are drawn in blocks.
const BLOCKS = "blocks of short events";

class TimelineDetails {
  constructor(timeline, box) {
    this.timeline = timeline;
    this.box = box;
  }

  fail(message) { this.box.append(element("p", { className: "said", textContent: message })); }

  describe() {
    const hit = this.timeline.selected;
    if (!hit) {
      this.box.replaceChildren(element("p", { className: "said",
        textContent: "Select an event to see what it is. Drag over the lanes to add up a range of time." }));
      return;
    }
    const { facts } = hit;
    const lane = hit.track.lanes.find((each) => each.lane === hit.lane);
    const columns = [[], [], []];
    const add = (at, name, value) => { if (value !== null && value !== undefined && value !== "") columns[at].push([name, value]); };
    // Of the longest event in a block, a file knows the name only.
    const own = hit.events > 1 ? null : hit;
    if (!own) add(0, "block", `${number.format(hit.events)} events in ${exactTime(hit.length)}, ${significant(hit.busy)} % of it covered; the longest:`);
    add(0, "name", hit.name);
    add(0, "duration", exactTime((facts ?? own)?.length));
    if (facts?.self !== undefined && facts.self !== facts.length) add(0, "self time", exactTime(facts.self));
    add(0, "start", exactTime((facts ?? own)?.start));
    add(0, "on", [hit.track.name, lane?.label, lane?.detail].filter((text) => text).join(" · "));
    const replayed = facts?.replayed;
    add(0, "input", (replayed ?? facts)?.input_dims?.replaceAll(",", ", "));
    add(0, "types", (replayed ?? facts)?.input_types);
    if (facts?.launched) add(1, "launched", `${number.format(facts.launched)} device events, ${exactTime(facts.launched_ns)}`);
    add(1, "grid", facts?.grid && `${facts.grid} blocks of ${facts.block} threads`);
    if (facts?.registers_per_thread) add(1, "registers", `${facts.registers_per_thread} per thread`);
    if (facts?.shared_memory_bytes) add(1, "shared memory", shown(facts.shared_memory_bytes, "bytes"));
    if (facts?.est_achieved_occupancy_pct) add(1, "occupancy", `${significant(facts.est_achieved_occupancy_pct)} %`);
    if (facts?.uses_tensor_cores !== null && facts?.uses_tensor_cores !== undefined) add(1, "tensor cores", facts.uses_tensor_cores ? "yes" : "no");
    if (facts?.bytes) add(1, "size", shown(facts.bytes, "bytes"));
    if (facts?.bandwidth_gbps) add(1, "bandwidth", `${significant(facts.bandwidth_gbps)} GB/s`);
    add(1, "operator", replayed?.operator ?? facts?.op);
    if (replayed?.basis) add(1, "captured", `in a graph; basis: ${replayed.basis}`);
    add(1, "not matched", replayed?.reason);
    if (facts?.launch) add(1, "launched by", `${facts.launch}, ${exactTime(facts.start - facts.launch_start)} before`);
    else if (!facts && hit.links?.length) add(1, hit.kind === "stream" ? "launched by" : "launched", hit.links.map((link) => link.name).join(", "));
    add(1, "module", replayed?.module ?? facts?.module_hierarchy);
    add(1, "your line", replayed?.line ?? facts?.call_stack?.split(";").find((frame) => !/(site-packages|torch\/|<built-in|dist-packages)/.test(frame)));
    if (hit.around?.length) add(1, "inside", hit.around.map(([, name]) => name).slice(-6).join(" › "));
    add(2, "events like it", likeIt(hit));
    this.box.replaceChildren(...columns.filter((rows) => rows.length).map((rows) => element("dl", {},
      ...rows.flatMap(([name, value]) => [element("dt", { textContent: name }),
        element("dd", {}, name === "events like it" ? element("code", { textContent: value }) : String(value))]))));
  }

  async describeRange(track) {
    const { range } = this.timeline;
    const said = element("p", {}, element("b", { textContent: exactTime(range.length) }),
      track.name ? ` of ${track.name} selected. ` : " selected. ");
    this.box.replaceChildren(said);
    const [from, to] = [range.start - track.shift, range.start + range.length - track.shift];
    if (!track.source.selection) {
      this.box.append(...sums(track, from, to));
      return;
    }
    try {
      const found = await track.source.selection(from, to);
      if (this.timeline.range !== range) return;
      const { totals } = found;
      const parts = totals.value.map((value, n) => {
        const curve = CURVES.find((each) => each.series === totals.texts.series[totals.series[n]]);
        const text = curve.unit === "bytes" ? shown(value, "bytes") : `${significant(value)}${curve.top ? " %" : ""}`;
        return `${track.curveLabel(curve, totals.texts.device[totals.device[n]])} ${text}`;
      });
      said.append(`${parts.join("; ")}.`);
      this.box.append(...["operators", "kernels"].map((kind) => rangeTable(kind, found[kind].time_us.map((time, n) => ({
        name: found[kind].texts.name[found[kind].name[n]], calls: found[kind].calls[n], time: 1000 * time })), true)));
    } catch (error) {
      if (this.timeline.range === range) said.append(error.message);
    }
  }
}

function likeIt({ name, kind, category }) {
  const text = `'${name.replaceAll("'", "''")}'`;
  if (kind === "stream" && (category === "compute" || category === "communication")) return `FROM kernel_stats() WHERE name = ${text}`;
  if (kind === "thread" && category === "cpu_op") return `FROM operator_calls(op := ${text.replaceAll("%", "_")})`;
  return `FROM ${kind === "thread" || kind === "steps" ? "host_events" : "device_events"} WHERE name = ${text}`;
}

// The operators and kernels of a range, of the rectangles in the page. What is in a block has no name of its own.
function sums(track, from, to) {
  const { rectangles } = track;
  const groups = { operators: new Map(), kernels: new Map() };
  rectangles.start.forEach((start, n) => {
    const stop = start + rectangles.length[n];
    if (start >= to || stop <= from) return;
    const isDevice = rectangles.laneOf(n).startsWith("stream");
    if (!isDevice && rectangles.categoryOf(n) !== "cpu_op") return;
    const group = groups[isDevice ? "kernels" : "operators"];
    const name = rectangles.events[n] > 1 ? BLOCKS : rectangles.nameOf(n);
    const row = group.get(name) ?? { name, calls: 0, time: 0 };
    row.calls += rectangles.events[n];
    row.time += (Math.min(stop, to) - Math.max(start, from)) * (rectangles.busy[n] / 100);
    group.set(name, row);
  });
  return Object.entries(groups).filter(([, rows]) => rows.size).map(([kind, rows]) => rangeTable(kind,
    [...rows.values()].sort((a, b) => b.time - a.time).slice(0, 8), false));
}

function rangeTable(kind, rows, isOwnTime) {
  const title = { operators: isOwnTime ? "Operators that begin in it, by all their own host time" : "Operators by host time, with what they call",
    kernels: "Kernels and copies by time" }[kind];
  if (!rows.length) return "";
  return element("table", { className: "facts" }, element("caption", { textContent: title }),
    element("thead", {}, element("tr", {}, ...["name", "calls", "time"].map((text) => element("th", { scope: "col", textContent: text })))),
    element("tbody", {}, ...rows.map((row) => element("tr", {},
      element("th", { scope: "row", textContent: shortened(row.name, 60), title: row.name }),
      element("td", { textContent: number.format(row.calls) }), element("td", { textContent: exactTime(row.time) })))));
}

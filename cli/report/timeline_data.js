// What a timeline knows of one trace: rectangles and lanes, from the rows in the page or from its server.
"use strict";

// Times are nanoseconds from the start of the trace.
const MOST_HITS = 1000;

// The colour of an event: a name of page colours (--c-…) by its category, and by its name on the host.
const COLORS = {
  step: "step", user_annotation: "annotation", annotation: "annotation", gpu_user_annotation: "annotation",
  cpu_op: "operator", python_function: "python", cuda_runtime: "runtime", cuda_driver: "runtime",
  hip_runtime: "runtime", privateuse1_runtime: "runtime", overhead: "runtime", compute: "kernel",
  communication: "communication", memcpy: "copy", memset: "memset", sync: "sync",
};
const NAMED = [
  [/^enumerate\(DataLoader\)|DataLoader.*__next__/, "dataloader"],
  [/^ProfilerStep#/, "step"],
  [/^Optimizer\./, "optimizer"],
  [/^(nccl|gloo|mpi|c10d|record_param_comms)/i, "communication"],
];

function colorName(category, name) {
  if (category === "cpu_op" || category === "user_annotation" || category === "annotation") {
    for (const [pattern, color] of NAMED) if (pattern.test(name)) return color;
  }
  return COLORS[category] ?? "operator";
}

// Rectangles in the form that is fast to draw.
class Rectangles {
  constructor(found, window) {
    Object.assign(this, found, { window });
    const { category, name } = found.texts;
    this.colors = found.category.map((at, n) => colorName(category[at], name[found.name[n]]));
    this.byLane = new Map();
    found.lane.forEach((at, n) => {
      const lane = found.texts.lane[at];
      if (!this.byLane.has(lane)) this.byLane.set(lane, []);
      this.byLane.get(lane).push(n);
    });
  }

  nameOf(n) { return this.texts.name[this.name[n]]; }

  categoryOf(n) { return this.texts.category[this.category[n]]; }

  laneOf(n) { return this.texts.lane[this.lane[n]]; }
}

const NOTHING = { rows: 0, texts: { lane: [], category: [], name: [] }, lane: [], depth: [], start: [], length: [],
  events: [], busy: [], event_id: [], category: [], name: [] };

// What a page with all rows in it knows, and what a live page asks its server for, in the same form.
function embeddedSource(found) {
  const whole = new Rectangles(found.rectangles, [0, found.length]);
  const { step, window } = found;
  const inStep = window && new Rectangles(found.step_rectangles, [window.start, window.end]);
  const isInStep = (from, to) => inStep && from >= window.start - 1 && to <= window.end + 1;
  return {
    found, isLive: false, whole,
    gaps: async () => found.gaps ?? null,
    rectangles: async (from, to) => (isInStep(from, to) ? inStep : whole),
    series: async (from, to) => (isInStep(from, to) ? found.step_series : found.series) ?? null,
    critical: async (time) => (step && found.critical_path && time >= step.start - 1 && time <= step.end + 1
      ? { ...found.critical_path, from: step.start, to: step.end } : null),
    async search(text) {
      const wanted = text.toLowerCase();
      const hits = [];
      const known = new Set();
      for (const from of [inStep, whole]) {
        from?.start.forEach((start, n) => {
          const key = `${from.laneOf(n)} ${from.event_id[n]}`;
          if (known.has(key) || !from.nameOf(n).toLowerCase().includes(wanted)) return;
          known.add(key);
          hits.push({ lane: from.laneOf(n), depth: from.depth[n], start, length: from.length[n], events: from.events[n],
            busy: from.busy[n], event: from.event_id[n], category: from.categoryOf(n), name: from.nameOf(n) });
        });
      }
      return hits.filter((hit) => hit.lane !== "steps").sort((a, b) => a.start - b.start).slice(0, MOST_HITS);
    },
  };
}

// `asked` are the parameters that name the trace.
function liveSource(found, asked) {
  const ask = (kind, given, signal) => askTimeline(kind, asked, given, signal);
  const range = (from, to) => ({ start: Math.floor(from), end: Math.ceil(to) });
  return {
    found, isLive: true, whole: new Rectangles(found.rectangles ?? NOTHING, [0, found.length]),
    gaps: () => ask("gaps", {}),
    rectangles: async (from, to, pixels, signal, depths) => new Rectangles(
      await ask("rectangles", { ...range(from, to), pixels, ...(depths ? { depths } : {}) }, signal), [from, to]),
    series: (from, to, signal) => ask("series", range(from, to), signal),
    critical: (time) => ask("critical_path", { at: Math.round(time) }),
    event: (lane, event) => ask("event", { lane, event }),
    selection: (from, to) => ask("selection", range(from, to)),
    async search(text) {
      const rows = await ask("search", { text });
      return rows.start.map((start, n) => ({ lane: rows.texts.lane[rows.lane[n]], depth: rows.depth[n],
        start, length: rows.length[n], event: rows.event_id[n],
        category: rows.texts.category[rows.category[n]], name: rows.texts.name[rows.name[n]] }));
    },
  };
}

function askTimeline(kind, asked, given = {}, signal = undefined) {
  const wanted = new URLSearchParams(asked);
  for (const [name, value] of Object.entries(given)) wanted.set(name, value);
  return fetchJson(`api/timeline/${kind}?${wanted}`, { signal });
}

function lanesOf({ lanes }) {
  const text = (column, n) => (lanes[column][n] === null ? null : lanes.texts[column][lanes[column][n]]);
  return lanes.depths.map((depths, n) => {
    const lane = { depths, rows: depths, events: lanes.events[n], operators: lanes.operators[n] };
    for (const column of ["lane", "kind", "role", "pid", "tid", "process", "name"]) lane[column] = text(column, n);
    return { ...lane, ...laneLabel(lane) };
  });
}

function laneLabel({ kind, role, pid, tid, process, name }) {
  if (kind === "steps") return { label: "Steps", detail: "" };
  if (kind === "thread") {
    // Profilers name a thread 'thread 25738 (python)'.
    const own = name?.match(/^thread -?\d+ \((.*)\)$/i)?.[1] ?? (/^thread -?\d+$/i.test(name ?? "") ? null : name);
    const label = { main: "Main thread", backward: "Backward thread" }[role] ?? own ?? (tid === null ? "No thread recorded" : `Thread ${tid}`);
    return { label, detail: label === own || !own ? tid ?? "" : `${tid} ${own}` };
  }
  const device = /\d/.test(process ?? "") ? process : `Device ${pid ?? "not recorded"}`;
  const what = { stream: "", annotations: "annotations", syncs: "synchronisation" }[kind];
  const stream = tid === null ? "no stream recorded" : `stream ${tid}`;
  return { label: `${device}, ${stream}`, detail: what || "kernels and copies", short: [device, stream] };
}

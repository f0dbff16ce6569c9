// The timeline: lanes of events on a canvas, with zoom, search, selection and what is known of an event.
"use strict";

// Times are nanoseconds from the start of the trace.
const ROW = 16, LABELS = 168, AXIS = 24, STRIP = 34, CURVE = 44, LANE_GAP = 7, LEAST_VIEW = 200;
const TALLEST = 640;
const CURVES = [
  { series: "gpu_busy", label: "busy", unit: "pct", top: 100 },
  { series: "sm_efficiency", label: "SM efficiency", unit: "pct", top: 100 },
  { series: "queue_length", label: "launch queue", unit: "-", top: null },
  { series: "memory", label: "memory", unit: "bytes", top: null },
];

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

// What a page with all rows in it knows, and what a live page asks its server for, in the same form.
function embeddedSource(found) {
  const whole = new Rectangles(found.rectangles, [0, found.length]);
  const { step } = found;
  const inStep = step && new Rectangles(found.step_rectangles, [step.start, step.end]);
  const isInStep = (from, to) => inStep && from >= step.start - 1 && to <= step.end + 1;
  return {
    found, isLive: false, whole,
    gaps: async () => found.gaps,
    rectangles: async (from, to) => (isInStep(from, to) ? inStep : whole),
    series: async (from, to) => (isInStep(from, to) ? found.step_series : found.series),
    critical: async (time) => (isInStep(time, time) ? { ...found.critical_path, from: step.start, to: step.end } : null),
    async search(text) {
      const wanted = text.toLowerCase();
      const hits = [];
      const known = new Set();
      for (const from of [inStep, whole]) {
        from?.start.forEach((start, n) => {
          const key = `${from.laneOf(n)} ${from.event_id[n]}`;
          if (known.has(key) || !from.nameOf(n).toLowerCase().includes(wanted)) return;
          known.add(key);
          hits.push({ lane: from.laneOf(n), depth: from.depth[n], start, length: from.length[n],
            event: from.event_id[n], category: from.categoryOf(n), name: from.nameOf(n) });
        });
      }
      return hits.filter((hit) => hit.lane !== "steps").sort((a, b) => a.start - b.start).slice(0, 1000);
    },
  };
}

function liveSource(found) {
  const ask = (kind, given, signal) => {
    const wanted = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(given)) wanted.set(name, value);
    return fetchJson(`api/timeline/${kind}?${wanted}`, { signal });
  };
  const range = (from, to) => ({ start: Math.floor(from), end: Math.ceil(to) });
  return {
    found, isLive: true, whole: new Rectangles(found.rectangles, [0, found.length]),
    gaps: () => ask("gaps", {}),
    rectangles: async (from, to, pixels, signal) => new Rectangles(
      await ask("rectangles", { ...range(from, to), pixels }, signal), [from, to]),
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
    const label = { main: "Main thread", backward: "Backward thread" }[role] ?? own ?? `Thread ${tid}`;
    return { label, detail: label === own || !own ? tid : `${tid} ${own}` };
  }
  const device = /\d/.test(process ?? "") ? process : `Device ${pid}`;
  const what = { stream: "", annotations: "annotations", syncs: "synchronisation" }[kind];
  return { label: `${device}, stream ${tid}`, detail: what || "kernels and copies",
    short: [device, `stream ${tid}`] };
}

// A round distance between ticks.
function tickLength(length, most) {
  const least = length / most;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least);
}

function exactTime(ns) {
  return shown(ns, "ns");
}

// Two or three significant digits, and one unit for all ticks of an axis.
function tickTexts(ticks, between) {
  const [size, word] = scale("ns", Math.max(Math.abs(ticks.at(-1) ?? 0), between));
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(between / size) + 0.001)));
  return ticks.map((tick) => `${(tick / size).toLocaleString("en", { minimumFractionDigits: digits,
    maximumFractionDigits: digits })} ${word}`);
}

class Timeline {
  constructor(holder, source) {
    this.source = source;
    this.length = source.found.length;
    this.lanes = lanesOf(source.found);
    this.view = { from: 0, to: this.length };
    this.rectangles = source.whole;
    this.curves = null; // of what is in view
    this.recorded = null; // of the whole recording
    this.gaps = null;
    this.isShown = { gaps: true, critical: false, arrows: true, folded: false };
    this.selected = null;
    this.range = null;
    this.hits = [];
    this.hit = -1;
    this.critical = null;
    this.scroll = 0;
    this.placed = [];
    this.build(holder);
    const { step } = source.found;
    if (step && step.end - step.start < this.length) this.show(step.start, step.end, false);
    this.layout();
    this.refresh();
    this.loadRecording();
    new ResizeObserver(() => { this.layout(); this.refresh(); }).observe(this.box);
    drawn.set(this.box, () => { this.colors = null; this.draw(); });
  }

  // ---- Elements

  build(holder) {
    const toggle = (name, text, hint) => element("button", { type: "button", className: "toggle",
      title: hint, textContent: text, ariaPressed: String(this.isShown[name]),
      onclick: (event) => {
        this.isShown[name] = !this.isShown[name];
        event.currentTarget.ariaPressed = String(this.isShown[name]);
        if (name === "critical") this.loadCritical();
        this.layout();
        this.draw();
      } });
    this.searchBox = element("input", { type: "search", placeholder: "Search events", ariaLabel: "Search events",
      onkeydown: (event) => {
        if (event.key === "Enter") { event.preventDefault(); this.search(event.shiftKey ? -1 : 1); }
        if (event.key === "Escape") this.box.focus();
      } });
    this.searchSaid = element("span", { className: "said" });
    this.searchSaid.setAttribute("aria-live", "polite");
    const step = this.source.found.step;
    const fits = [
      element("button", { type: "button", textContent: "Whole recording", onclick: () => this.fit() }),
    ];
    if (step) {
      fits.push(element("button", { type: "button", textContent: step.name.replace("ProfilerStep#", "Step "),
        title: "The step of median length", onclick: () => this.show(step.start, step.end) }));
    }
    const zooms = [["−", "Zoom out (S)", 1.6], ["+", "Zoom in (W)", 1 / 1.6]].map(([text, hint, factor]) =>
      element("button", { type: "button", textContent: text, title: hint, ariaLabel: hint, onclick: () => this.zoom(factor) }));
    const hasDevice = this.lanes.some((lane) => lane.kind === "stream");
    const toggles = [];
    if (hasDevice) toggles.push(toggle("gaps", "Gaps", "Shade the time in which a device is idle"));
    if (step || this.source.isLive) {
      toggles.push(toggle("critical", "Critical path", "Mark the chain of work and waiting that sets the length of the step"));
    }
    if (hasDevice) toggles.push(toggle("arrows", "Launches", "Draw an arrow from the selected event to what it launched"));
    this.folded = this.lanes.filter((lane) => this.isFolded(lane)).length;
    if (this.folded) {
      toggles.push(toggle("folded", `${this.folded} more lane${this.folded === 1 ? "" : "s"}`,
        "Show threads that run no operator, and lanes of synchronisations"));
    }
    this.bar = element("div", { className: "timeline-bar" },
      element("span", { className: "group" }, ...fits, ...zooms), element("span", { className: "group" }, ...toggles),
      element("span", { className: "group" }, this.searchBox,
        element("button", { type: "button", textContent: "↑", ariaLabel: "Previous (P)", title: "Previous (P)", onclick: () => this.search(-1) }),
        element("button", { type: "button", textContent: "↓", ariaLabel: "Next (N)", title: "Next (N)", onclick: () => this.search(1) }),
        this.searchSaid));
    this.canvas = element("canvas");
    this.spacer = element("div", { className: "timeline-spacer" }, this.canvas);
    this.box = element("div", { className: "timeline-box", tabIndex: 0 }, this.spacer);
    this.box.setAttribute("role", "application");
    this.box.setAttribute("aria-roledescription", "timeline");
    this.box.setAttribute("aria-label", "Timeline. W and S zoom, A and D move, F shows the whole recording or the"
      + " selection, arrow keys go from event to event, slash searches.");
    this.tip = element("div", { className: "timeline-tip", hidden: true });
    this.details = element("div", { className: "timeline-details" });
    this.details.setAttribute("aria-live", "polite");
    this.keys = element("p", { className: "said" });
    for (const [key, meaning] of [["W S", "zoom"], ["A D", "move"], ["F", "fit"], ["drag", "select a range"],
      ["/", "search"], ["arrows", "next event"], ["Ctrl + wheel", "zoom"]]) {
      this.keys.append(element("kbd", { textContent: key }), ` ${meaning}  `);
    }
    holder.append(this.bar, this.box, this.tip, this.details, this.keys);
    this.describe();
    this.listen();
  }

  listen() {
    const { box } = this;
    box.addEventListener("scroll", () => { this.scroll = box.scrollTop; this.draw(); });
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("wheel", (event) => {
      // The page scrolls until the timeline is chosen by a click or by the keyboard.
      const isChosen = document.activeElement === box;
      if (event.ctrlKey || event.metaKey || (isChosen && !event.shiftKey && Math.abs(event.deltaY) > Math.abs(event.deltaX)
        && box.scrollHeight <= box.clientHeight + 1)) {
        event.preventDefault();
        this.zoom(1.0015 ** event.deltaY, this.timeAt(this.at(event).x));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        this.pan((event.deltaX || event.deltaY) / this.plot);
      }
    }, { passive: false });
    box.addEventListener("pointerdown", (event) => this.press(event));
    box.addEventListener("pointermove", (event) => this.move(event));
    box.addEventListener("pointerup", (event) => this.release(event));
    box.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    box.addEventListener("dblclick", (event) => {
      const hit = this.find(this.at(event));
      if (hit) this.show(hit.start - hit.length * 0.05, hit.start + hit.length * 1.05);
    });
  }

  at(event) {
    const bounds = this.canvas.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = this.selected ?? this.range;
    const acts = {
      w: () => this.zoom(1 / 1.4), s: () => this.zoom(1.4), a: () => this.pan(-0.15), d: () => this.pan(0.15),
      f: () => (chosen ? this.show(chosen.start - chosen.length * 0.1, chosen.start + chosen.length * 1.1) : this.fit()),
      n: () => this.search(1), p: () => this.search(-1), "/": () => this.searchBox.focus(),
      escape: () => { this.range = null; this.select(null); },
      arrowright: () => this.step(1), arrowleft: () => this.step(-1),
      arrowdown: () => this.climb(1), arrowup: () => this.climb(-1),
      home: () => this.pan(-Infinity), end: () => this.pan(Infinity),
    };
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // ---- What is in view

  get plot() { return Math.max(this.width - this.labels, 50); }

  get labels() { return this.width < 620 ? 96 : LABELS; }

  timeAt(x) { return this.view.from + ((x - this.labels) / this.plot) * (this.view.to - this.view.from); }

  xOf(time) { return this.labels + ((time - this.view.from) / (this.view.to - this.view.from)) * this.plot; }

  fit() { this.show(0, this.length); }

  show(from, to, isRefreshed = true) {
    const length = Math.min(Math.max(to - from, LEAST_VIEW), this.length * 1.02);
    const middle = (from + to) / 2;
    const margin = this.length * 0.01;
    const start = Math.min(Math.max(middle - length / 2, -margin), this.length + margin - length);
    this.view = { from: start, to: start + length };
    if (isRefreshed) { this.draw(); this.refresh(); }
  }

  // Shows a step of the given number.
  showStep(number) {
    const { whole } = this.source;
    const n = (whole.byLane.get("steps") ?? []).find((each) => whole.nameOf(each).endsWith(`#${number}`));
    if (n === undefined) return;
    this.box.scrollIntoView({ block: "center" });
    this.show(whole.start[n], whole.start[n] + whole.length[n]);
  }

  zoom(factor, around = null) {
    const { from, to } = this.view;
    const center = around ?? (this.selected && this.selected.start > from && this.selected.start < to
      ? this.selected.start + this.selected.length / 2 : (from + to) / 2);
    this.show(center - (center - from) * factor, center + (to - center) * factor);
  }

  pan(share) {
    const length = this.view.to - this.view.from;
    if (!Number.isFinite(share)) {
      const from = share < 0 ? 0 : this.length - length;
      this.show(from, from + length);
    } else this.show(this.view.from + share * length, this.view.to + share * length);
  }

  // Asks for what is in view, unless the answer at hand is as exact.
  refresh() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), this.source.isLive ? 40 : 0);
  }

  async load() {
    this.loading?.abort();
    const mine = new AbortController();
    this.loading = mine;
    const { from, to } = this.view;
    this.box.setAttribute("aria-busy", "true");
    try {
      const pixels = Math.max(100, Math.round(this.plot));
      this.rectangles = await this.source.rectangles(Math.max(from, 0), Math.min(to, this.length + 1), pixels, mine.signal);
      if (mine.signal.aborted) return;
      this.layout();
      this.draw();
      this.curves = await this.source.series(Math.max(from, 0), Math.min(to, this.length + 1), mine.signal);
      if (!mine.signal.aborted) this.draw();
      this.loadCritical();
    } catch (error) {
      if (mine.signal.aborted) return;
      this.searchSaid.textContent = error.message;
    }
    this.box.setAttribute("aria-busy", "false");
    this.box.dataset.view = `${Math.round(from)} ${Math.round(to)}`;
  }

  // What is drawn after the first picture: the curves of the whole recording, and the gaps.
  async loadRecording() {
    try {
      this.recorded = await this.source.series(0, this.length);
      this.layout();
      this.gaps = await this.source.gaps();
      this.draw();
    } catch (error) {
      this.searchSaid.textContent = error.message;
    }
  }

  // The critical path of the step that is selected, or else in the middle of the view.
  async loadCritical() {
    if (!this.isShown.critical) return;
    const { from, to } = this.view;
    const chosen = this.selected && this.selected.start + this.selected.length / 2;
    const time = chosen !== null && chosen >= from && chosen < to ? chosen
      : Math.min(Math.max((from + to) / 2, 0), this.length - 1);
    this.criticalTime = time;
    if (this.critical && time >= this.critical.from && time < this.critical.to) return;
    try {
      const found = await this.source.critical(time);
      if (!found || this.criticalTime !== time) return;
      found.from = Math.min(found.from, time); // between two steps, it is the nearest one
      found.to = Math.max(found.to, time + 1);
      found.events = new Map();
      found.event_id.forEach((id, n) => {
        if (id !== null) found.events.set(id, n);
      });
      this.critical = found;
      this.draw();
    } catch (error) {
      this.searchSaid.textContent = error.message;
    }
  }

  // ---- Layout: the top of each lane, and the row of each rectangle

  isFolded(lane) {
    const threads = this.lanes.filter((each) => each.kind === "thread");
    const isIdle = lane.kind === "thread" && lane.operators === 0 && lane.role === null && threads.length > 1;
    return isIdle || lane.kind === "syncs";
  }

  layout() {
    this.width = this.box.clientWidth;
    let top = STRIP + AXIS;
    this.placed = [];
    for (const lane of this.lanes) {
      if (this.isFolded(lane) && !this.isShown.folded) continue;
      if (lane.kind !== "thread" && lane.kind !== "steps") lane.rows = Math.max(lane.rows, this.stack(lane));
      const height = Math.max(lane.rows * ROW, 2 * ROW - 4);
      this.placed.push({ lane, top, height });
      top += height + LANE_GAP;
    }
    for (const curve of this.recorded ? CURVES : []) {
      const { texts, series, device } = this.recorded;
      const at = texts.series?.indexOf(curve.series) ?? -1;
      const devices = [...new Set(device.filter((_, n) => series[n] === at))].map((each) => texts.device[each]);
      const isNoted = curve.series === "memory" && !devices.length;
      for (const each of isNoted ? [null] : devices) {
        this.placed.push({ curve, device: each, top, height: CURVE });
        top += CURVE + LANE_GAP;
      }
    }
    this.total = top;
    this.height = Math.min(top, TALLEST);
    this.box.style.height = `${this.height}px`;
    this.spacer.style.height = `${top}px`;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.draw();
  }

  // Events of a device overlap at times: each takes the first row that is free. Returns the number of rows.
  stack(lane) {
    const { byLane, start, length } = this.rectangles;
    const order = byLane.get(lane.lane) ?? [];
    const ends = [];
    this.rectangles.rows_of ??= new Map();
    for (const n of order) {
      let row = ends.findIndex((end) => end <= start[n]);
      if (row < 0) row = ends.length < 8 ? ends.length : 7;
      ends[row] = start[n] + length[n];
      this.rectangles.rows_of.set(n, row);
    }
    return Math.max(ends.length, 1);
  }

  rowOf(n, lane) {
    return lane.kind === "thread" || lane.kind === "steps" ? this.rectangles.depth[n] : this.rectangles.rows_of?.get(n) ?? 0;
  }

  // ---- Drawing

  palette() {
    if (!this.colors) {
      const style = getComputedStyle(document.documentElement);
      this.colors = new Proxy({}, { get: (known, name) => (known[name] ??= style.getPropertyValue(`--${name}`).trim()) });
    }
    return this.colors;
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const context = this.canvas.getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    const colors = this.palette();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const ticks = this.ticks();
    context.save();
    context.beginPath();
    context.rect(0, STRIP + AXIS, this.width, this.height - STRIP - AXIS);
    context.clip();
    context.translate(0, -this.scroll);
    context.strokeStyle = colors.line;
    for (const { x } of ticks) {
      context.beginPath();
      context.moveTo(x + 0.5, this.scroll);
      context.lineTo(x + 0.5, this.scroll + this.height);
      context.stroke();
    }
    for (const place of this.placed) {
      if (place.top > this.scroll + this.height || place.top + place.height < this.scroll + STRIP) continue;
      context.fillStyle = colors.line;
      context.fillRect(0, place.top + place.height + Math.floor(LANE_GAP / 2), this.width, 1);
      context.save();
      context.beginPath();
      context.rect(this.labels, place.top - 2, this.plot, place.height + 4);
      context.clip();
      if (place.lane) {
        if (this.isShown.gaps && this.gaps && place.lane.kind === "stream") this.paintGaps(context, place, colors);
        this.paintLane(context, place, colors);
      } else this.paintCurve(context, place, colors);
      context.restore();
      this.paintLabel(context, place, colors);
    }
    if (this.isShown.arrows) this.paintArrows(context, colors);
    context.restore();
    if (this.range) {
      const [from, to] = [this.xOf(this.range.start), this.xOf(this.range.start + this.range.length)];
      context.fillStyle = colors["c-range"];
      context.fillRect(from, STRIP, to - from, this.height - STRIP);
      context.strokeStyle = colors.link;
      context.strokeRect(from + 0.5, STRIP + 0.5, to - from, this.height - STRIP - 1);
    }
    this.paintAxis(context, ticks, colors);
    this.paintStrip(context, colors);
    this.box.dataset.drawn = "yes";
  }

  ticks() {
    const between = tickLength(this.view.to - this.view.from, Math.max(2, this.plot / 110));
    const times = [];
    for (let time = Math.ceil(this.view.from / between) * between; time <= this.view.to; time += between) times.push(time);
    const texts = tickTexts(times, between);
    return times.map((time, n) => ({ x: Math.round(this.xOf(time)), text: texts[n] }));
  }

  paintAxis(context, ticks, colors) {
    context.fillStyle = colors.panel;
    context.fillRect(0, STRIP, this.width, AXIS);
    context.fillStyle = colors.soft;
    for (const { x, text } of ticks) {
      if (x < this.labels - 4) continue;
      const width = context.measureText(text).width;
      if (x + 4 + width < this.width) context.fillText(text, x + 4, STRIP + AXIS / 2);
      context.fillRect(x, STRIP + AXIS - 6, 1, 6);
    }
    context.fillStyle = colors.line;
    context.fillRect(0, STRIP + AXIS - 1, this.width, 1);
  }

  // The whole recording, with a frame around what is in view.
  paintStrip(context, colors) {
    const series = this.recorded;
    const xOf = (time) => this.labels + (time / this.length) * this.plot;
    context.fillStyle = colors.panel;
    context.fillRect(0, 0, this.width, STRIP);
    context.fillStyle = colors.paper;
    context.fillRect(this.labels, 2, this.plot, STRIP - 6);
    const busy = series?.texts.series?.indexOf("gpu_busy") ?? -1;
    const bottom = STRIP - 4;
    if (busy >= 0) {
      context.fillStyle = colors["c-kernel-soft"];
      series.series.forEach((kind, n) => {
        if (kind !== busy) return;
        const height = (STRIP - 8) * series.value[n] / 100;
        const x = xOf(series.start[n]);
        context.fillRect(x, bottom - height, Math.max(1, xOf(series.start[n] + series.length[n]) - x), height);
      });
    } else {
      const { whole } = this.source;
      whole.start.forEach((start, n) => {
        if (whole.depth[n] > 1 || !whole.laneOf(n).startsWith("thread")) return;
        context.fillStyle = colors[`c-${whole.colors[n]}`];
        context.fillRect(xOf(start), whole.depth[n] ? 16 : 4, Math.max(1, xOf(start + whole.length[n]) - xOf(start)), 11);
      });
    }
    const [from, to] = [Math.max(xOf(this.view.from), this.labels), Math.min(xOf(this.view.to), this.width - 1)];
    context.fillStyle = colors["c-veil"];
    context.fillRect(this.labels, 2, from - this.labels, STRIP - 6);
    context.fillRect(to, 2, this.width - to, STRIP - 6);
    context.strokeStyle = colors.link;
    context.strokeRect(from + 0.5, 2.5, Math.max(to - from, 2), STRIP - 7);
    context.fillStyle = colors.soft;
    context.fillText("Recording", 0, 11);
    context.fillText(exactTime(this.length), 0, 24);
  }

  paintLabel(context, { lane, curve, device, top }, colors) {
    const detail = lane ? lane.detail : curve.series === "memory" && device === null ? "not recorded" : this.curveDetail(curve, device);
    const label = lane ? lane.label : this.curveLabel(curve, device);
    const [first, second] = this.labels < LABELS && lane?.short ? lane.short : [label, detail];
    context.fillStyle = colors.panel;
    context.fillRect(0, top - 2, this.labels - 1, 34);
    context.fillStyle = colors.ink;
    context.fillText(this.fitted(context, first, this.labels - 10), 0, top + 7);
    context.fillStyle = colors.soft;
    if (second) context.fillText(this.fitted(context, second, this.labels - 10), 0, top + 21);
  }

  curveLabel(curve, device) {
    if (device === null) return "Memory";
    if (curve.series === "memory") return `Memory, ${device}`;
    const name = this.lanes.find((lane) => lane.kind === "stream" && lane.pid === device)?.label.split(",")[0] ?? `Device ${device}`;
    return `${name} ${curve.label}`;
  }

  curveDetail(curve, device) {
    if (curve.top === 100) return "0 to 100 %";
    const most = this.largestOf(curve, device);
    const unit = curve.unit === "bytes" ? shown(most, "bytes") : `${significant(most)} events`;
    return `up to ${unit}`;
  }

  largestOf(curve, device) {
    const rows = this.curves ?? this.recorded;
    const kind = rows.texts.series?.indexOf(curve.series) ?? -1;
    const at = rows.texts.device?.indexOf(device) ?? -1;
    let most = 0;
    rows.series.forEach((each, n) => {
      if (each === kind && rows.device[n] === at) most = Math.max(most, rows.value[n]);
    });
    return most;
  }

  fitted(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    let [low, high] = [0, text.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
      else high = middle - 1;
    }
    return low ? `${text.slice(0, low)}…` : "";
  }

  paintGaps(context, { lane, top, height }, colors) {
    const { gaps } = this;
    for (let n = 0; n < gaps.rows; n += 1) {
      if (gaps.texts.device[gaps.device[n]] !== lane.pid) continue;
      const [from, to] = [this.xOf(gaps.start[n]), this.xOf(gaps.start[n] + gaps.length[n])];
      if (to < this.labels || from > this.width || to - from < 2) continue;
      context.fillStyle = colors["c-gap"];
      context.fillRect(from, top - 2, to - from, height + 4);
      const left = Math.max(from, this.labels) + 6;
      const op = gaps.host_op[n] === null ? null : gaps.texts.host_op[gaps.host_op[n]];
      const why = `${rounded(gaps.length[n], "ns")} idle${op ? `: the host runs ${op}` : ""}`;
      const room = Math.min(to, this.width) - left - 4;
      if (room > 60) {
        context.fillStyle = colors["c-gap-ink"];
        context.fillText(this.fitted(context, why, room), left, top + height / 2);
      }
    }
  }

  paintLane(context, place, colors) {
    const { lane, top } = place;
    const { start, length, events, busy, event_id: ids } = this.rectangles;
    const path = this.isShown.critical ? this.critical?.events : null;
    const marked = this.marked();
    for (const n of this.rectangles.byLane.get(lane.lane) ?? []) {
      const from = this.xOf(start[n]);
      const to = this.xOf(start[n] + length[n]);
      if (to < this.labels || from > this.width) continue;
      const left = Math.max(from, this.labels - 2);
      const width = Math.max(Math.min(to, this.width + 2) - left, 1);
      const y = top + this.rowOf(n, lane) * ROW;
      const isBlock = events[n] > 1;
      // A block is as strong as it is full.
      context.globalAlpha = (isBlock ? 0.35 + 0.65 * (busy[n] / 100) : 1) * (path && !path.has(ids[n]) ? 0.25 : 1);
      const color = this.rectangles.colors[n];
      context.fillStyle = colors[`c-${color}`];
      context.fillRect(left, y, width > 3 ? width - 0.5 : width, ROW - 2);
      context.globalAlpha = 1;
      if (path?.has(ids[n])) {
        context.fillStyle = colors["c-path"];
        context.fillRect(left, y + ROW - 4, width, 2);
      }
      if (marked.has(`${lane.lane} ${ids[n]}`)) {
        context.strokeStyle = colors.ink;
        context.lineWidth = 1.5;
        context.strokeRect(left - 0.5, y - 0.5, width + 1, ROW - 1);
        context.lineWidth = 1;
      }
      if (width > 28 && !isBlock) {
        context.fillStyle = colors[`c-${color}-ink`] || colors["c-ink"];
        context.fillText(this.fitted(context, this.rectangles.nameOf(n), width - 8), left + 4, y + ROW / 2 - 0.5);
      }
    }
  }

  marked() {
    const found = new Set();
    if (this.selected) found.add(`${this.selected.lane} ${this.selected.event}`);
    for (const link of this.selected?.links ?? []) found.add(`${link.lane} ${link.event}`);
    return found;
  }

  paintCurve(context, { curve, device, top, height }, colors) {
    if (device === null) {
      context.fillStyle = colors.soft;
      context.fillText("Record with profile_memory=True to see what is allocated here.", this.labels + 8, top + height / 2);
      return;
    }
    const rows = this.curves ?? this.recorded;
    const kind = rows.texts.series?.indexOf(curve.series) ?? -1;
    const at = rows.texts.device?.indexOf(device) ?? -1;
    const most = curve.top ?? this.largestOf(curve, device);
    context.fillStyle = colors[curve.series === "gpu_busy" ? "c-kernel-soft" : "c-curve"];
    rows.series.forEach((each, n) => {
      if (each !== kind || rows.device[n] !== at || !most) return;
      const from = this.xOf(rows.start[n]);
      const to = this.xOf(rows.start[n] + rows.length[n]);
      if (to < this.labels || from > this.width) return;
      const size = Math.max(1, (height - 2) * Math.min(1, rows.value[n] / most));
      context.fillRect(from, top + height - size, Math.max(to - from - (to - from > 4 ? 1 : 0), 1), size);
    });
  }

  paintArrows(context, colors) {
    const { selected } = this;
    if (!selected?.links?.length) return;
    const pointOf = ({ lane, depth, start }) => {
      const place = this.placed.find((each) => each.lane?.lane === lane);
      return place && { x: this.xOf(start), y: place.top + (place.lane.kind === "thread" ? depth ?? 0 : 0) * ROW + ROW / 2 };
    };
    context.save();
    context.beginPath();
    context.rect(this.labels, this.scroll, this.plot, this.total);
    context.clip();
    context.strokeStyle = colors.link;
    context.fillStyle = colors.link;
    for (const link of selected.links) {
      const [from, to] = (link.isSource ? [link, selected] : [selected, link]).map(pointOf);
      if (!from || !to) continue;
      const bend = Math.max(20, Math.abs(to.x - from.x) / 2);
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(from.x, from.y);
      context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
      context.stroke();
      context.beginPath();
      context.moveTo(to.x, to.y);
      context.lineTo(to.x - 7, to.y - 4);
      context.lineTo(to.x - 7, to.y + 4);
      context.fill();
    }
    context.lineWidth = 1;
    context.restore();
  }

  // ---- Mouse

  find({ x, y }) {
    if (x < this.labels || y < STRIP + AXIS) return null;
    const place = this.placed.find((each) => each.lane && y + this.scroll >= each.top && y + this.scroll < each.top + each.height);
    if (!place) return null;
    const row = Math.floor((y + this.scroll - place.top) / ROW);
    let best = null;
    for (const n of this.rectangles.byLane.get(place.lane.lane) ?? []) {
      if (this.rowOf(n, place.lane) !== row) continue;
      const from = this.xOf(this.rectangles.start[n]);
      const to = Math.max(this.xOf(this.rectangles.start[n] + this.rectangles.length[n]), from + 1);
      // A narrow event is found from a pixel beside it.
      const distance = x < from ? from - x : Math.max(0, x - to);
      if (distance <= 2 && (best === null || distance < best.distance)) best = { n, distance };
    }
    return best && this.eventAt(best.n);
  }

  eventAt(n) {
    const from = this.rectangles;
    return { lane: from.laneOf(n), depth: from.depth[n], start: from.start[n], length: from.length[n],
      event: from.event_id[n], events: from.events[n], busy: from.busy[n], category: from.categoryOf(n), name: from.nameOf(n), n };
  }

  press(event) {
    if (event.button !== 0) return;
    const point = this.at(event);
    this.tip.hidden = true;
    const mode = point.y < STRIP ? "strip" : event.shiftKey || point.y < STRIP + AXIS ? "pan" : "range";
    this.drag = { mode, x: point.x, view: { ...this.view }, moved: false };
    if (mode === "strip") this.jump(point.x);
    if (event.pointerType !== "touch") this.canvas.setPointerCapture?.(event.pointerId);
  }

  jump(x) {
    const length = this.view.to - this.view.from;
    const middle = ((x - this.labels) / this.plot) * this.length;
    this.show(middle - length / 2, middle + length / 2);
  }

  move(event) {
    const point = this.at(event);
    const { drag } = this;
    if (!drag || !(event.buttons & 1)) {
      this.drag = null;
      this.hover(event, point);
      return;
    }
    drag.moved ||= Math.abs(point.x - drag.x) > 3;
    if (!drag.moved) return;
    if (drag.mode === "strip") this.jump(point.x);
    else if (drag.mode === "pan") {
      const by = ((drag.x - point.x) / this.plot) * (drag.view.to - drag.view.from);
      this.show(drag.view.from + by, drag.view.to + by);
    } else {
      const [from, to] = [this.timeAt(Math.max(drag.x, this.labels)), this.timeAt(Math.max(point.x, this.labels))];
      this.range = { start: Math.min(from, to), length: Math.abs(to - from) };
      this.draw();
    }
  }

  release(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    if (drag.mode === "range" && drag.moved) {
      this.selected = null;
      this.describeRange();
    } else if (drag.mode === "range") {
      this.range = null;
      this.select(this.find(this.at(event)));
    }
  }

  hover(event, point) {
    const hit = this.find(point);
    this.canvas.style.cursor = hit ? "pointer" : "default";
    this.tip.hidden = !hit;
    if (!hit) return;
    const many = hit.events > 1 ? `${number.format(hit.events)} events in ${exactTime(hit.length)}, `
      + `${significant(hit.busy)} % of it covered; the longest:` : exactTime(hit.length);
    this.tip.replaceChildren(element("b", { textContent: hit.events > 1 ? many : hit.name }),
      element("div", { textContent: hit.events > 1 ? hit.name : many }));
    const { clientWidth } = document.documentElement;
    this.tip.style.left = `${Math.min(event.clientX + 14, clientWidth - Math.min(380, clientWidth) - 8)}px`;
    this.tip.style.top = `${event.clientY + 16}px`;
  }

  // ---- Selection

  // The next event of the same lane and depth, or the first in view.
  step(by) {
    const { selected, rectangles } = this;
    if (!selected) {
      const place = this.placed.find((each) => each.lane?.kind === "thread") ?? this.placed.find((each) => each.lane);
      const first = (rectangles.byLane.get(place?.lane.lane) ?? []).find((n) => rectangles.start[n] >= this.view.from);
      if (first !== undefined) this.select(this.eventAt(first));
      return;
    }
    const row = (rectangles.byLane.get(selected.lane) ?? []).filter((n) => rectangles.depth[n] === selected.depth);
    const next = by > 0 ? row.find((n) => rectangles.start[n] > selected.start)
      : row.findLast((n) => rectangles.start[n] < selected.start);
    if (next !== undefined) this.select(this.eventAt(next), true);
  }

  // The event around the selected one, or the first inside it; at an end, the lane above or below.
  climb(by) {
    const { selected, rectangles } = this;
    if (!selected) { this.step(1); return; }
    const middle = selected.start;
    const inLane = (rectangles.byLane.get(selected.lane) ?? []).filter((n) => rectangles.depth[n] === selected.depth + by);
    let next = inLane.find((n) => (by < 0 ? rectangles.start[n] <= middle && rectangles.start[n] + rectangles.length[n] >= middle
      : rectangles.start[n] >= middle && rectangles.start[n] <= middle + selected.length));
    if (next === undefined) {
      const lanes = this.placed.filter((place) => place.lane);
      const at = lanes.findIndex((place) => place.lane.lane === selected.lane);
      const other = lanes[at + by]?.lane;
      next = other && (rectangles.byLane.get(other.lane) ?? []).find((n) => rectangles.start[n] + rectangles.length[n] >= middle);
    }
    if (next !== undefined) this.select(this.eventAt(next), true);
  }

  async select(hit, isShown = false) {
    this.selected = hit;
    if (hit) {
      hit.kind = this.lanes.find((lane) => lane.lane === hit.lane)?.kind ?? "thread";
      this.range = null;
      if (isShown) this.reveal(hit);
      this.links(hit);
      this.loadCritical();
    }
    this.describe();
    this.draw();
    if (!hit || !this.source.event) return;
    try {
      const { facts, around } = await this.source.event(hit.kind, hit.event);
      if (this.selected !== hit || !facts) return;
      hit.facts = facts;
      hit.around = around;
      if (facts.launch_id !== null && facts.launch_lane) {
        hit.links = [{ lane: facts.launch_lane, event: facts.launch_id, start: facts.launch_start, depth: around.length, isSource: true }];
      } else if (facts.launched_id) {
        hit.links = [{ lane: facts.launched_lane, event: facts.launched_id, start: this.startOf(facts.launched_lane, facts.launched_id) }];
      }
      this.describe();
      this.draw();
    } catch (error) {
      if (this.selected === hit) this.details.append(element("p", { className: "said", textContent: error.message }));
    }
  }

  startOf(lane, id) {
    const n = (this.rectangles.byLane.get(lane) ?? []).find((each) => this.rectangles.event_id[each] === id);
    return n === undefined ? NaN : this.rectangles.start[n];
  }

  // The launches that the page knows without a server.
  links(hit) {
    const { launches } = this.source.found;
    hit.links = [];
    if (!launches || hit.events > 1) return;
    const isDevice = hit.kind === "stream";
    const [mine, others] = isDevice ? [launches.event_id, launches.launch_id] : [launches.launch_id, launches.event_id];
    const wanted = new Set();
    mine.forEach((id, n) => { if (id === hit.event) wanted.add(others[n]); });
    if (!wanted.size) return;
    this.rectangles.event_id.forEach((id, n) => {
      if (wanted.has(id) && this.rectangles.laneOf(n).startsWith(isDevice ? "thread" : "stream") && hit.links.length < 20) {
        hit.links.push({ lane: this.rectangles.laneOf(n), event: id, start: this.rectangles.start[n], depth: this.rectangles.depth[n], isSource: isDevice, name: this.rectangles.nameOf(n) });
      }
    });
  }

  reveal({ lane, depth, start, length }) {
    const { from, to } = this.view;
    if (start + length < from || start > to) this.show(start + length / 2 - (to - from) / 2, start + length / 2 + (to - from) / 2);
    const place = this.placed.find((each) => each.lane?.lane === lane);
    if (!place) return;
    const y = place.top + (place.lane.kind === "thread" ? depth : 0) * ROW;
    if (y < this.box.scrollTop + STRIP + AXIS || y > this.box.scrollTop + this.height - ROW) {
      this.box.scrollTop = Math.max(0, y - this.height / 2);
    }
  }

  async search(by) {
    const text = this.searchBox.value.trim();
    if (!text) { this.searchBox.focus(); return; }
    if (text !== this.searched) {
      this.searchSaid.textContent = "Searching…";
      try {
        this.hits = await this.source.search(text);
      } catch (error) {
        this.searchSaid.textContent = error.message;
        return;
      }
      this.searched = text;
      this.hit = by > 0 ? -1 : 0;
    }
    if (!this.hits.length) {
      this.searchSaid.textContent = "No event has this in its name.";
      return;
    }
    this.hit = (this.hit + by + this.hits.length) % this.hits.length;
    const hit = { ...this.hits[this.hit], events: 1, busy: 100 };
    this.searchSaid.textContent = `${this.hit + 1} of ${this.hits.length === 1000 ? "1,000 or more" : number.format(this.hits.length)}`;
    const wanted = Math.max(hit.length * 12, LEAST_VIEW);
    if (this.view.to - this.view.from > wanted * 20) this.show(hit.start + hit.length / 2 - wanted * 4, hit.start + hit.length / 2 + wanted * 4);
    if (this.isFolded(this.lanes.find((lane) => lane.lane === hit.lane) ?? {})) { this.isShown.folded = true; this.layout(); }
    this.select(hit, true);
  }

  // ---- Details below the lanes

  describe() {
    const hit = this.selected;
    if (!hit) {
      this.details.replaceChildren(element("p", { className: "said",
        textContent: "Select an event to see what it is. Drag over the lanes to add up a range of time." }));
      return;
    }
    const { facts } = hit;
    const lane = this.lanes.find((each) => each.lane === hit.lane);
    const columns = [[], [], []];
    const add = (at, name, value) => { if (value !== null && value !== undefined && value !== "") columns[at].push([name, value]); };
    if (hit.events > 1) add(0, "block", `${number.format(hit.events)} events, ${significant(hit.busy)} % covered; the longest:`);
    add(0, "name", hit.name);
    add(0, "duration", exactTime(facts?.length ?? hit.length));
    if (facts?.self !== undefined && facts.self !== facts.length) add(0, "self time", exactTime(facts.self));
    add(0, "start", exactTime(facts?.start ?? hit.start));
    add(0, "on", [lane?.label, lane?.detail].filter((text) => text).join(" · "));
    add(0, "input", facts?.input_dims?.replaceAll(",", ", "));
    add(0, "types", facts?.input_types);
    if (facts?.launched) add(1, "launched", `${number.format(facts.launched)} device events, ${exactTime(facts.launched_ns)}`);
    add(1, "grid", facts?.grid && `${facts.grid} blocks of ${facts.block} threads`);
    if (facts?.registers_per_thread) add(1, "registers", `${facts.registers_per_thread} per thread`);
    if (facts?.shared_memory_bytes) add(1, "shared memory", shown(facts.shared_memory_bytes, "bytes"));
    if (facts?.est_achieved_occupancy_pct) add(1, "occupancy", `${significant(facts.est_achieved_occupancy_pct)} %`);
    if (facts?.uses_tensor_cores !== null && facts?.uses_tensor_cores !== undefined) add(1, "tensor cores", facts.uses_tensor_cores ? "yes" : "no");
    if (facts?.bytes) add(1, "size", shown(facts.bytes, "bytes"));
    if (facts?.bandwidth_gbps) add(1, "bandwidth", `${significant(facts.bandwidth_gbps)} GB/s`);
    add(1, "operator", facts?.op);
    if (facts?.launch) add(1, "launched by", `${facts.launch}, ${exactTime(facts.start - facts.launch_start)} before`);
    else if (!facts && hit.links?.length) add(1, hit.kind === "stream" ? "launched by" : "launched", hit.links.map((link) => link.name).join(", "));
    add(1, "module", facts?.module_hierarchy);
    add(1, "your line", facts?.call_stack?.split(";").find((frame) => !/(site-packages|torch\/|<built-in|dist-packages)/.test(frame)));
    if (hit.around?.length) add(1, "inside", hit.around.map(([, name]) => name).slice(-6).join(" › "));
    add(2, "events like it", this.likeIt(hit));
    this.details.replaceChildren(...columns.filter((rows) => rows.length).map((rows) => element("dl", {},
      ...rows.flatMap(([name, value]) => [element("dt", { textContent: name }),
        element("dd", {}, name === "events like it" ? element("code", { textContent: value }) : String(value))]))));
  }

  likeIt({ name, kind, category }) {
    const text = `'${name.replaceAll("'", "''")}'`;
    if (kind === "stream" && (category === "compute" || category === "communication")) return `FROM kernel_stats() WHERE name = ${text}`;
    if (kind === "thread" && category === "cpu_op") return `FROM operator_calls(op := ${text.replaceAll("%", "_")})`;
    return `FROM ${kind === "thread" || kind === "steps" ? "host_events" : "device_events"} WHERE name = ${text}`;
  }

  async describeRange() {
    const { range } = this;
    const said = element("p", {}, element("b", { textContent: exactTime(range.length) }), " selected. ");
    this.details.replaceChildren(said);
    this.draw();
    if (!this.source.selection) {
      this.details.replaceChildren(said, ...this.sums(range));
      return;
    }
    try {
      const found = await this.source.selection(range.start, range.start + range.length);
      if (this.range !== range) return;
      const { totals } = found;
      const parts = totals.value.map((value, n) => {
        const curve = CURVES.find((each) => each.series === totals.texts.series[totals.series[n]]);
        const text = curve.unit === "bytes" ? shown(value, "bytes") : `${significant(value)}${curve.top ? " %" : ""}`;
        return `${this.curveLabel(curve, totals.texts.device[totals.device[n]])} ${text}`;
      });
      said.append(`${parts.join("; ")}.`);
      this.details.append(...["operators", "kernels"].map((kind) => this.table(kind, found[kind].time_us.map((time, n) => ({
        name: found[kind].texts.name[found[kind].name[n]], calls: found[kind].calls[n], time: 1000 * time })))));
    } catch (error) {
      if (this.range === range) said.append(error.message);
    }
  }

  // The same of the rectangles in the page, if they are single events.
  sums(range) {
    const end = range.start + range.length;
    const groups = { operators: new Map(), kernels: new Map() };
    this.rectangles.start.forEach((start, n) => {
      const stop = start + this.rectangles.length[n];
      if (start >= end || stop <= range.start) return;
      const isDevice = this.rectangles.laneOf(n).startsWith("stream");
      if (!isDevice && this.rectangles.categoryOf(n) !== "cpu_op") return;
      const group = groups[isDevice ? "kernels" : "operators"];
      const name = this.rectangles.nameOf(n);
      const row = group.get(name) ?? { name, calls: 0, time: 0 };
      row.calls += this.rectangles.events[n];
      row.time += (Math.min(stop, end) - Math.max(start, range.start)) * (this.rectangles.busy[n] / 100);
      group.set(name, row);
    });
    return Object.entries(groups).filter(([, rows]) => rows.size).map(([kind, rows]) => this.table(kind,
      [...rows.values()].sort((a, b) => b.time - a.time).slice(0, 8)));
  }

  table(kind, rows) {
    const title = { operators: this.source.isLive ? "Operators by own host time" : "Operators by host time, with what they call",
      kernels: "Kernels and copies by time" }[kind];
    if (!rows.length) return "";
    return element("table", { className: "facts" }, element("caption", { textContent: title }),
      element("thead", {}, element("tr", {}, ...["name", "calls", "time"].map((text) => element("th", { scope: "col", textContent: text })))),
      element("tbody", {}, ...rows.map((row) => element("tr", {},
        element("th", { scope: "row", textContent: shortened(row.name, 60), title: row.name }),
        element("td", { textContent: number.format(row.calls) }), element("td", { textContent: exactTime(row.time) })))));
  }
}

function significant(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: value >= 100 ? 3 : 2 });
}

// Shortens a long name in the middle, where what is left still differs.
function shortened(name, most) {
  return name.length <= most ? name : `${name.slice(0, Math.ceil(most * 0.6))}…${name.slice(-Math.floor(most * 0.35))}`;
}

async function showTimeline(section) {
  const holder = section.querySelector(".timeline");
  const message = section.querySelector(".empty");
  try {
    const found = data ? data.timeline : await fetchJson(`api/timeline/overview${location.search}`);
    if (!found.lanes.rows) throw new Error("The trace has no events with a duration.");
    section.timeline = new Timeline(holder, data ? embeddedSource(found) : liveSource(found));
  } catch (error) {
    message.textContent = error.message;
    message.hidden = false;
  }
}

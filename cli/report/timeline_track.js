// One trace of a timeline: what is loaded of it, and which lanes of it are drawn.
"use strict";

// Lanes of a folded track have this many rows: of the main thread the outermost events.
const FOLDED_DEPTHS = 2;

class Track {
  // `shift` takes a time of the trace to one of the timeline. `open` returns the source, when the track is first in view.
  constructor({ name, shift = 0, length, open, note = "" }) {
    Object.assign(this, { name, shift, length, open, note, source: null, lanes: [], isFolded: false });
    this.rectangles = null;
    this.curves = null; // of what is in view
    this.recorded = null; // of the whole recording
    this.gaps = null;
    this.critical = null;
    this.loaded = null; // what the rectangles are of
  }

  use(source) {
    this.source = source;
    this.lanes = lanesOf(source.found);
    this.length = source.found.length;
    this.rectangles = source.whole;
    return this;
  }

  async ready() {
    if (!this.source) this.use(await this.open());
    return this.source;
  }

  get step() { return this.source.found.step; }

  get hasDevice() { return this.lanes.some((lane) => lane.kind === "stream"); }

  // Asks for what is drawn from one time of the timeline to another; `onLanes` is called before the curves come.
  async load(from, to, pixels, signal, onLanes) {
    const wanted = `${from - this.shift} ${to - this.shift} ${pixels} ${this.isFolded}`;
    if (this.loaded === wanted) return;
    await this.ready();
    const range = [Math.max(from - this.shift, 0), Math.min(to - this.shift, this.length + 1)];
    if (range[0] >= range[1]) range.splice(0, 2, 0, 1); // the trace has nothing there
    const found = await this.source.rectangles(...range, pixels, signal, this.isFolded ? FOLDED_DEPTHS : null);
    if (signal.aborted) return;
    this.rectangles = found;
    onLanes();
    if (!this.isFolded) {
      this.curves = await this.source.series(...range, signal);
      if (signal.aborted) return;
    }
    this.loaded = wanted;
  }

  async loadGaps() { this.gaps ??= await this.source.gaps(); }

  // A device is not idle while launched work waits: it does what is not in the trace.
  gapText(n) {
    const { length, unrecorded, host_op: operators, texts } = this.gaps;
    const [time, unknown] = [rounded(length[n], "ns"), rounded(unrecorded[n], "ns")];
    if (2 * unrecorded[n] >= length[n]) return `${time}: for ${unknown} the device does work that is not in the trace`;
    return `${time} idle${operators[n] === null ? "" : `: the host runs ${texts.host_op[operators[n]]}`}`;
  }

  // The critical path of the step at a time of the trace.
  async loadCritical(time) {
    if (!this.source) return;
    this.criticalTime = time;
    if (this.critical && time >= this.critical.from && time < this.critical.to) return;
    const found = await this.source.critical(time);
    if (!found || this.criticalTime !== time) return;
    found.from = Math.min(found.from, time); // between two steps, it is the nearest one
    found.to = Math.max(found.to, time + 1);
    found.events = new Map();
    found.event_id.forEach((id, n) => {
      if (id !== null) found.events.set(id, n);
    });
    this.critical = found;
  }

  // Threads that run no operator, and lanes of synchronisations.
  isIdle(lane) {
    const threads = this.lanes.filter((each) => each.kind === "thread");
    const waits = lane.kind === "thread" && lane.operators === 0 && lane.role === null && threads.length > 1;
    return waits || lane.kind === "syncs";
  }

  // The lanes to draw, each with its number of rows.
  lanesDrawn(isIdleShown) {
    if (this.isFolded) {
      const find = (test) => this.lanes.find(test);
      const main = find((lane) => lane.role === "main");
      // The outermost Python frames tell nothing.
      const isPython = main && this.inLane(main.lane).every((n) => this.rectangles.categoryOf(n) === "python_function");
      const top = (isPython && find((lane) => lane.kind === "steps")) || main;
      const streams = this.lanes.filter((lane) => lane.kind === "stream");
      return [...(top ? [[top, Math.min(top.depths, FOLDED_DEPTHS)]] : []), ...streams.map((lane) => [lane, 1])];
    }
    return this.lanes.filter((lane) => isIdleShown || !this.isIdle(lane)).map((lane) => {
      if (lane.kind !== "thread" && lane.kind !== "steps") lane.rows = Math.max(lane.rows, this.pile(lane));
      return [lane, lane.rows];
    });
  }

  // Devices that have a curve; null stands for memory that the profiler was not asked to record.
  devicesOf(curve) {
    const known = this.recorded ?? this.curves;
    if (this.isFolded || !known) return [];
    const { texts, series, device } = known;
    const at = texts.series?.indexOf(curve.series) ?? -1;
    const devices = [...new Set(device.filter((_, n) => series[n] === at))].map((each) => texts.device[each]);
    const isLeftOut = curve.series === "memory" && !devices.length && this.recorded && !this.source.found.is_of_another_program;
    return isLeftOut ? [null] : devices;
  }

  // Events of a device overlap at times: each takes the first row that is free. Returns the number of rows.
  pile(lane) {
    const { byLane, start, length } = this.rectangles;
    const ends = [];
    this.rectangles.rows_of ??= new Map();
    for (const n of byLane.get(lane.lane) ?? []) {
      let row = ends.findIndex((end) => end <= start[n]);
      if (row < 0) row = ends.length < 8 ? ends.length : 7;
      ends[row] = start[n] + length[n];
      this.rectangles.rows_of.set(n, row);
    }
    return Math.max(ends.length, 1);
  }

  rowOf(n, lane) {
    if (this.isFolded && lane.kind !== "thread") return 0; // in one row
    return lane.kind === "thread" || lane.kind === "steps" ? this.rectangles.depth[n] : this.rectangles.rows_of?.get(n) ?? 0;
  }

  inLane(lane) { return this.rectangles?.byLane.get(lane) ?? []; }

  eventAt(n) {
    const from = this.rectangles;
    return { track: this, lane: from.laneOf(n), depth: from.depth[n], start: from.start[n], length: from.length[n],
      event: from.event_id[n], events: from.events[n], busy: from.busy[n], category: from.categoryOf(n), name: from.nameOf(n), n };
  }

  startOf(lane, id) {
    const n = this.inLane(lane).find((each) => this.rectangles.event_id[each] === id);
    return n === undefined ? NaN : this.rectangles.start[n];
  }

  // The launches that the page knows without a server.
  linksOf(hit) {
    const { launches } = this.source.found;
    const links = [];
    if (!launches || hit.events > 1) return links;
    const isDevice = hit.kind === "stream";
    const [mine, others] = isDevice ? [launches.event_id, launches.launch_id] : [launches.launch_id, launches.event_id];
    const wanted = new Set();
    mine.forEach((id, n) => { if (id === hit.event) wanted.add(others[n]); });
    if (!wanted.size) return links;
    const { event_id: ids, start, depth } = this.rectangles;
    ids.forEach((id, n) => {
      if (wanted.has(id) && this.rectangles.laneOf(n).startsWith(isDevice ? "thread" : "stream") && links.length < 20) {
        links.push({ lane: this.rectangles.laneOf(n), event: id, start: start[n], depth: depth[n], isSource: isDevice, name: this.rectangles.nameOf(n) });
      }
    });
    return links;
  }

  curveLabel(curve, device) {
    if (device === null) return "Memory";
    if (curve.series === "memory") return `Memory, ${device}`;
    const name = this.lanes.find((lane) => lane.kind === "stream" && lane.pid === device)?.label.split(",")[0] ?? `Device ${device}`;
    return `${name} ${curve.label}`;
  }

  curveDetail(curve, device) {
    if (device === null) return "not recorded";
    if (curve.top === 100) return "0 to 100 %";
    const most = this.largestOf(curve, device);
    return `up to ${curve.unit === "bytes" ? shown(most, "bytes") : `${significant(most)} event${most === 1 ? "" : "s"}`}`;
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
}

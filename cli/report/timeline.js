// The timeline: lanes of events on a canvas, with zoom, search, selection and what is known of an event.
"use strict";

// Times are nanoseconds from the start of the trace that the page is about.
const LEAST_VIEW = 200, TALLEST = 640;

// The height of a row, in a lane of a thread that may take so many pixels.
function rowHeight(lane, rows, most) {
  return lane.kind === "thread" ? Math.max(LOWEST_ROW, Math.min(ROW, Math.floor(most / rows))) : ROW;
}

// A lane has room for two lines of its label.
function laneHeight(rows, row) { return Math.max(rows * row, 2 * ROW - 4); }

class Timeline {
  constructor(holder, source) {
    this.tracks = [new Track({ name: "" }).use(source)];
    this.baseline = null;
    this.stack = null;
    this.view = { from: this.begin, to: this.end };
    this.isShown = { gaps: true, critical: false, arrows: true, folded: false, tall: false };
    this.selected = null;
    this.range = null;
    this.hits = [];
    this.hit = -1;
    this.scroll = 0;
    this.placed = [];
    this.build(holder);
    const { step, length } = this.main;
    if (step && step.end - step.start < length) this.show(step.start, step.end, false);
    this.layout();
    this.refresh();
    this.loadRecording();
    new ResizeObserver(() => { this.layout(); this.refresh(); }).observe(this.box);
    drawn.set(this.box, () => { this.painter.forgetColors(); this.draw(); });
    window.addEventListener("beforeprint", () => this.painter.paint()); // there is no animation frame before
  }

  // The trace that the page is about.
  get main() { return this.tracks[0]; }

  get begin() { return Math.min(...this.tracks.map((track) => track.shift)); }

  get end() { return Math.max(...this.tracks.map((track) => track.shift + track.length)); }

  // ---- Elements

  build(holder) {
    const toggle = (name, text, hint) => element("button", { type: "button", className: "toggle",
      title: hint, textContent: text, ariaPressed: String(this.isShown[name]),
      onclick: (event) => {
        this.isShown[name] = !this.isShown[name];
        event.currentTarget.ariaPressed = String(this.isShown[name]);
        if (name === "critical") this.loadCritical();
        this.layout();
      } });
    this.searchBox = element("input", { type: "search", placeholder: "Search events", ariaLabel: "Search events",
      onkeydown: (event) => {
        if (event.key === "Enter") { event.preventDefault(); this.search(event.shiftKey ? -1 : 1); }
        if (event.key === "Escape") this.box.focus();
      } });
    this.searchSaid = element("span", { className: "said" });
    this.searchSaid.setAttribute("aria-live", "polite");
    const { step, source, hasDevice } = this.main;
    const fits = [
      element("button", { type: "button", textContent: "Whole recording", onclick: () => this.fit() }),
    ];
    if (step) {
      const name = step.name.startsWith("ProfilerStep#") ? `Step ${step.step}` : step.name;
      fits.push(element("button", { type: "button", textContent: name,
        title: `${name}, the step of median length`, onclick: () => this.showSteps() }));
    }
    const zooms = [["−", "Zoom out (S)", 1.6], ["+", "Zoom in (W)", 1 / 1.6]].map(([text, hint, factor]) =>
      element("button", { type: "button", textContent: text, title: hint, ariaLabel: hint, onclick: () => this.zoom(factor) }));
    const toggles = [];
    if (hasDevice) toggles.push(toggle("gaps", "Gaps", "Shade the time in which a device is idle"));
    if (step || source.isLive) {
      toggles.push(toggle("critical", "Critical path", "Mark the chain of work and waiting that sets the length of the step"));
    }
    if (hasDevice) toggles.push(toggle("arrows", "Launches", "Draw an arrow from the selected event to what it launched"));
    const idle = this.main.lanes.filter((lane) => this.main.isIdle(lane)).length;
    if (idle) {
      toggles.push(toggle("folded", `${idle} more lane${idle === 1 ? "" : "s"}`,
        "Show threads that run no operator, and lanes of synchronisations"));
    }
    this.tallToggle = toggle("tall", "Tall rows", "Give every row of a deep stack the height of a name");
    toggles.push(this.tallToggle);
    const bar = element("div", { className: "timeline-bar" },
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
    this.box.addEventListener("scroll", () => {
      this.scroll = this.box.scrollTop;
      this.draw();
      if (this.tracks.length > 1) this.refresh();
    });
    const tip = element("div", { className: "timeline-tip", hidden: true });
    const details = element("div", { className: "timeline-details" });
    details.setAttribute("aria-live", "polite");
    const keys = element("p", { className: "said" });
    for (const [key, meaning] of [["W S", "zoom"], ["A D", "move"], ["F", "fit"], ["drag", "select a range"],
      ["/", "search"], ["arrows", "next event"], ["Ctrl + wheel", "zoom"]]) {
      keys.append(element("kbd", { textContent: key }), ` ${meaning}  `);
    }
    holder.append(bar, this.box, tip, details, keys);
    this.painter = new Painter(this);
    this.input = new TimelineInput(this, tip);
    this.details = new TimelineDetails(this, details);
    this.details.describe();
  }

  // Offers the workers of the run, to stand one below the other.
  offer(workers, own, left, open) {
    const box = element("div", { className: "timeline-stack" });
    this.box.before(box);
    this.stack = new TimelineStack(this, box, workers, own, left, open);
  }

  // Shows the baseline under the run.
  compare(source) {
    this.main.name = this.main.source.found.run;
    this.baseline = new Track({ name: `baseline ${source.found.run}` }).use(source);
    const isAligned = this.align();
    this.setTracks([this.main, this.baseline]);
    // Both are to be seen.
    this.main.isFolded = this.baseline.isFolded = this.baseline.top > 0.65 * this.height;
    this.layout();
    if (isAligned) this.showSteps();
  }

  // Moves the baseline so that its step of median length starts where that of the run starts, if both have steps.
  align() {
    const { main, baseline } = this;
    if (!main.step || !baseline.step) {
      Object.assign(baseline, { shift: 0, note: "the recordings start together" });
      return false;
    }
    const length = ({ step }) => rounded(step.end - step.start, "ns");
    baseline.shift = main.step.start - baseline.step.start;
    main.note = length(main);
    baseline.note = `the median steps of both start together: ${length(baseline)}`;
    return true;
  }

  // Shows the step of median length, and that of the baseline.
  showSteps() {
    if (this.baseline) this.align();
    const lengths = [this.main, this.baseline].filter((track) => track?.step).map(({ step }) => step.end - step.start);
    this.show(this.main.step.start, this.main.step.start + Math.max(...lengths));
  }

  // Shows a range of a run; times are nanoseconds since the epoch, as texts or BigInt. With `beside`, the time
  // beside.from_ns of the run beside.run stands where the range starts.
  zoomTo(run, from_ns, to_ns, beside = null) {
    const find = (name) => this.tracks.find((track) => track.source?.found.run === name);
    const own = (track, ns) => Number(BigInt(ns) - BigInt(track.source.found.start_ns));
    const track = find(run);
    if (!track) return false;
    const other = beside && find(beside.run);
    if (other === this.baseline && other) other.shift = own(track, from_ns) + track.shift - own(other, beside.from_ns);
    else if (other && track === this.baseline) track.shift = own(other, beside.from_ns) + other.shift - own(track, from_ns);
    if (other) {
      this.main.note = "";
      this.baseline.note = "the chosen block starts together in both";
    }
    this.show(own(track, from_ns) + track.shift, own(track, to_ns) + track.shift);
    return true;
  }

  setTracks(tracks) {
    this.tracks = tracks;
    if (this.selected && !tracks.includes(this.selected.track)) this.select(null);
    this.searched = null; // by other tracks
    this.layout();
    this.refresh();
  }

  // Draws the outermost events of a track only, or all its lanes.
  fold(track, isFolded) {
    track.isFolded = isFolded;
    this.layout();
    this.refresh();
    this.stack?.describe();
  }

  // ---- What is in view

  get plot() { return Math.max(this.width - this.labels, 50); }

  get labels() { return this.width < 620 ? LABELS.narrow : LABELS.wide; }

  timeAt(x) { return this.view.from + ((x - this.labels) / this.plot) * (this.view.to - this.view.from); }

  xOf(time) { return this.labels + ((time - this.view.from) / (this.view.to - this.view.from)) * this.plot; }

  // Where the time is in the strip of the whole recording.
  stripX(time) { return this.labels + ((time - this.begin) / (this.end - this.begin)) * this.plot; }

  // Where something that a trace has at `start` begins and ends.
  span({ shift }, start, length) { return [this.xOf(start + shift), this.xOf(start + length + shift)]; }

  fit() { this.show(this.begin, this.end); }

  show(from, to, isRefreshed = true) {
    const whole = this.end - this.begin;
    const length = Math.min(Math.max(to - from, LEAST_VIEW), whole * 1.02);
    const middle = (from + to) / 2;
    const margin = whole * 0.01;
    const start = Math.min(Math.max(middle - length / 2, this.begin - margin), this.end + margin - length);
    this.view = { from: start, to: start + length };
    if (isRefreshed) { this.draw(); this.refresh(); }
  }

  // Shows a range and a share of its length before and after it.
  showRange({ start, length }, margin) { this.show(start - length * margin, start + length * (1 + margin)); }

  showEvent({ track, start, length }, margin) { this.showRange({ start: start + track.shift, length }, margin); }

  // Shows a step of a span, by its number.
  showStep(number, span = this.main.source.found.span) {
    const { found } = this.main.source;
    const n = span === found.span ? found.steps.step.indexOf(number) : -1;
    this.box.scrollIntoView({ block: "center" });
    this.searchSaid.textContent = n < 0 ? `The timeline is of span ${found.span}, which does not have this step.` : "";
    if (n >= 0) this.show(found.steps.start[n], found.steps.start[n] + found.steps.length[n]);
  }

  zoom(factor, around = null) {
    const { from, to } = this.view;
    const { selected } = this;
    const at = selected && selected.start + selected.track.shift;
    const center = around ?? (selected && at > from && at < to ? at + selected.length / 2 : (from + to) / 2);
    this.show(center - (center - from) * factor, center + (to - center) * factor);
  }

  pan(share) {
    const length = this.view.to - this.view.from;
    if (!Number.isFinite(share)) {
      const from = share < 0 ? this.begin : this.end - length;
      this.show(from, from + length);
    } else this.show(this.view.from + share * length, this.view.to + share * length);
  }

  // Moves to a place in the strip of the whole recording.
  jump(x) {
    const length = this.view.to - this.view.from;
    const middle = this.begin + ((x - this.labels) / this.plot) * (this.end - this.begin);
    this.show(middle - length / 2, middle + length / 2);
  }

  // Asks for what is in view, unless what is loaded is as exact.
  refresh() {
    this.box.setAttribute("aria-busy", "true");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), this.main.source.isLive ? 40 : 0);
  }

  async load() {
    this.loading?.abort();
    const mine = new AbortController();
    this.loading = mine;
    const { from, to } = this.view;
    try {
      const pixels = Math.max(100, Math.round(this.plot));
      const known = new Set();
      // A track that opens may push others out of the screen.
      for (let seen = this.seen(); seen.some((track) => !known.has(track)); seen = this.seen()) {
        await Promise.all(seen.map((track) => track.load(from, to, pixels, mine.signal, () => this.layout())));
        if (mine.signal.aborted) return;
        for (const track of seen) known.add(track);
        this.layout();
      }
    } catch (error) {
      if (mine.signal.aborted) return;
      this.searchSaid.textContent = error.message;
    }
    this.box.setAttribute("aria-busy", "false");
    this.box.dataset.view = `${Math.round(from)} ${Math.round(to)}`;
    if (this.tracks.length > 1) this.loadOthers();
    this.loadCritical();
  }

  // The traces that are on the screen.
  seen() {
    const [top, bottom] = [this.scroll, this.scroll + this.height];
    return this.tracks.filter((track) => track.top < bottom && track.bottom > top);
  }

  // The gaps of traces other than the first, as far as their lanes are drawn.
  async loadOthers() {
    try {
      for (const track of this.seen()) {
        if (track.isFolded) continue;
        await track.loadGaps();
      }
      this.draw();
    } catch (error) {
      this.searchSaid.textContent = error.message;
    }
  }

  // What is drawn after the first picture: the curves of the whole recording, and the gaps.
  async loadRecording() {
    const { main } = this;
    try {
      main.recorded = await main.source.series(0, main.length);
      this.layout();
      await main.loadGaps();
      this.draw();
    } catch (error) {
      this.searchSaid.textContent = error.message;
    }
  }

  // The critical paths of the step that is selected, or else of the step in the middle of the view.
  async loadCritical() {
    if (!this.isShown.critical) return;
    const { view: { from, to }, selected } = this;
    const chosen = selected && selected.start + selected.track.shift + selected.length / 2;
    const time = chosen !== null && chosen >= from && chosen < to ? chosen : (from + to) / 2;
    try {
      for (const track of this.seen()) {
        if (track.isFolded && track !== this.main) continue;
        await track.loadCritical(Math.min(Math.max(time - track.shift, 0), track.length - 1));
      }
      this.draw();
    } catch (error) {
      this.searchSaid.textContent = error.message;
    }
  }

  // ---- Layout: the top of each lane

  layout() {
    this.width = this.box.clientWidth;
    let top = STRIP + AXIS;
    this.placed = [];
    const isStacked = this.tracks.length > 1;
    const tallest = isStacked ? Math.max(TALLEST, 0.8 * window.innerHeight) : TALLEST;
    this.tallToggle.hidden = true;
    for (const track of this.tracks) {
      track.top = top;
      if (isStacked) {
        this.placed.push({ track, isHead: true, top, height: HEAD });
        top += HEAD + 4;
      }
      const lanes = track.lanesDrawn(this.isShown.folded);
      const deepest = this.deepest(lanes, tallest - STRIP - AXIS - (isStacked ? HEAD + 4 : 0));
      for (const [lane, rows] of lanes) {
        const low = track.isFolded ? ROW : rowHeight(lane, rows, deepest);
        if (low < ROW) this.tallToggle.hidden = false;
        const row = this.isShown.tall ? ROW : low;
        const height = track.isFolded ? rows * row : laneHeight(rows, row);
        this.placed.push({ track, lane, rows, row, top, height });
        top += height + (track.isFolded ? 2 : LANE_GAP);
      }
      for (const curve of isStacked ? CURVES.slice(0, 1) : CURVES) {
        for (const device of track.devicesOf(curve)) {
          this.placed.push({ track, curve, device, top, height: CURVE });
          top += CURVE + LANE_GAP;
        }
      }
      if (!track.source) top += 3 * ROW; // until its lanes are known
      if (isStacked) top += LANE_GAP;
      track.bottom = top;
    }
    this.total = top;
    this.height = Math.min(top, tallest);
    this.box.style.height = `${this.height}px`;
    this.spacer.style.height = `${top}px`;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.draw();
  }

  // The most pixels that a lane of a thread may take, so that the last stream of the trace is in view.
  deepest(lanes, room) {
    const last = lanes.findLastIndex(([lane]) => lane.kind === "stream");
    const seen = last < 0 ? lanes : lanes.slice(0, last + 1);
    const total = (most) => seen.reduce((sum, [lane, rows]) => sum + laneHeight(rows, rowHeight(lane, rows, most)) + LANE_GAP, 0);
    // With very many lanes nothing helps, and rows that are too low to read help least.
    let most = room;
    while (most > room / 4 && total(most) > room) most -= 1;
    return most;
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.painter.paint();
      this.box.dataset.drawn = "yes";
    });
  }

  // ---- Selection

  // The next event of the same lane and depth, or the first in view.
  step(by) {
    const { selected } = this;
    if (!selected) {
      const place = this.placed.find((each) => each.lane?.kind === "thread") ?? this.placed.find((each) => each.lane);
      const { track, lane } = place;
      const first = track.inLane(lane.lane).find((n) => track.rectangles.start[n] + track.shift >= this.view.from);
      if (first !== undefined) this.select(track.eventAt(first));
      return;
    }
    const { track } = selected;
    const { start, depth } = track.rectangles;
    const row = track.inLane(selected.lane).filter((n) => depth[n] === selected.depth);
    const next = by > 0 ? row.find((n) => start[n] > selected.start) : row.findLast((n) => start[n] < selected.start);
    if (next !== undefined) this.select(track.eventAt(next), true);
  }

  // The event around the selected one, or the first inside it; at an end, the lane above or below.
  climb(by) {
    const { selected } = this;
    if (!selected) { this.step(1); return; }
    let { track } = selected;
    const middle = selected.start + track.shift;
    const ends = (n) => track.shift + track.rectangles.start[n] + track.rectangles.length[n];
    const begins = (n) => track.shift + track.rectangles.start[n];
    let next = track.inLane(selected.lane).filter((n) => track.rectangles.depth[n] === selected.depth + by)
      .find((n) => (by < 0 ? begins(n) <= middle && ends(n) >= middle
        : begins(n) >= middle && begins(n) <= middle + selected.length));
    if (next === undefined) {
      const lanes = this.placed.filter((place) => place.lane);
      const at = lanes.findIndex((place) => place.track === track && place.lane.lane === selected.lane);
      const other = lanes[at + by];
      if (!other) return;
      ({ track } = other);
      next = track.inLane(other.lane.lane).find((n) => ends(n) >= middle);
    }
    if (next !== undefined) this.select(track.eventAt(next), true);
  }

  async select(hit, isShown = false) {
    this.selected = hit;
    if (hit) {
      hit.kind = hit.track.lanes.find((lane) => lane.lane === hit.lane)?.kind ?? "thread";
      this.range = null;
      if (isShown) this.reveal(hit);
      hit.links = hit.track.linksOf(hit);
      this.loadCritical();
    }
    this.details.describe();
    this.draw();
    if (!hit?.track.source.event) return;
    try {
      const { facts, around } = await hit.track.source.event(hit.kind, hit.event);
      if (this.selected !== hit || !facts) return;
      hit.facts = facts;
      hit.around = around;
      if (facts.launch_id !== null && facts.launch_lane) {
        hit.links = [{ lane: facts.launch_lane, event: facts.launch_id, start: facts.launch_start, depth: around.length, isSource: true }];
      } else if (facts.launched_id) {
        hit.links = [{ lane: facts.launched_lane, event: facts.launched_id, start: hit.track.startOf(facts.launched_lane, facts.launched_id) }];
      }
      this.details.describe();
      this.draw();
    } catch (error) {
      if (this.selected === hit) this.details.fail(error.message);
    }
  }

  selectRange(track) {
    this.selected = null;
    this.details.describeRange(track);
    this.draw();
  }

  reveal({ track, lane, depth, start, length }) {
    const { from, to } = this.view;
    const middle = start + track.shift + length / 2;
    if (middle + length / 2 < from || middle - length / 2 > to) this.show(middle - (to - from) / 2, middle + (to - from) / 2);
    const place = this.placed.find((each) => each.track === track && each.lane?.lane === lane);
    if (!place) return;
    const y = place.top + (place.lane.kind === "thread" ? depth : 0) * place.row;
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
        const found = await Promise.all(this.tracks.map(async (track) =>
          (await (await track.ready()).search(text)).map((hit) => ({ ...hit, track }))));
        this.hits = found.flat().sort((a, b) => a.start + a.track.shift - b.start - b.track.shift).slice(0, MOST_HITS);
      } catch (error) {
        this.searchSaid.textContent = error.message;
        return;
      }
      this.searched = text;
      this.hit = by > 0 ? -1 : 0;
    }
    if (!this.hits.length) {
      this.searchSaid.textContent = this.main.source.isLive ? "No event has this in its name."
        : "Not found in this file, which names only the longest event of a block. tracewh serve searches all events.";
      return;
    }
    this.hit = (this.hit + by + this.hits.length) % this.hits.length;
    const hit = { events: 1, busy: 100, ...this.hits[this.hit] };
    const many = this.hits.length === MOST_HITS ? "1,000 or more" : number.format(this.hits.length);
    this.searchSaid.textContent = `${this.hit + 1} of ${many}${hit.track.name && `, ${hit.track.name}`}`;
    const wanted = Math.max(hit.length * 12, LEAST_VIEW);
    const middle = hit.start + hit.track.shift + hit.length / 2;
    if (this.view.to - this.view.from > wanted * 20) this.show(middle - wanted * 4, middle + wanted * 4);
    const lane = hit.track.lanes.find((each) => each.lane === hit.lane);
    if (hit.track.isFolded && (lane?.role !== "main" || hit.depth >= FOLDED_DEPTHS) && lane?.kind !== "stream") this.fold(hit.track, false);
    if (lane && hit.track.isIdle(lane) && !this.isShown.folded) { this.isShown.folded = true; this.layout(); }
    this.select(hit, true);
  }
}

async function showTimeline(section) {
  const holder = section.querySelector(".timeline");
  const message = section.querySelector(".empty");
  try {
    const found = data ? data.timeline : await askTimeline("overview", OF_TRACE);
    if (!found.lanes.rows) throw new Error("The trace has no events with a duration.");
    const timeline = new Timeline(holder, data ? embeddedSource(found) : liveSource(found, OF_TRACE));
    section.timeline = timeline;
    if (found.baseline) await showBaseline(timeline, found);
    offerWorkers(timeline, found).catch((error) => { timeline.searchSaid.textContent = error.message; });
  } catch (error) {
    message.textContent = error.message;
    message.hidden = false;
  }
}

async function showBaseline(timeline, { run, baseline }) {
  if (data) timeline.compare(embeddedSource(baseline));
  else {
    // The other run as its baseline, so that the server keeps the files of both open.
    const asked = new URLSearchParams({ ...baseline, baseline: run });
    timeline.compare(liveSource(await askTimeline("overview", asked), asked));
  }
}

async function offerWorkers(timeline, found) {
  const rows = data ? found.stack : await askTimeline("stack", OF_TRACE);
  if (!rows) return; // a page with one timeline only
  const text = (column, n) => (rows[column][n] === null ? null : rows.texts[column][rows[column][n]]);
  const workers = rows.worker.map((_, n) => ({ rank: rows.rank[n], length: rows.length[n], shift: rows.shift[n],
    ahead: rows.ahead[n], spread: rows.spread[n], allowing: rows.allowing[n], found: rows.found?.[n],
    worker: text("worker", n), aligned_by: text("aligned_by", n), source: text("source", n), reason: text("reason", n) }));
  if (workers.length + (rows.left ?? 0) < 2 && !timeline.baseline) return;
  timeline.offer(workers, found.worker, rows.left ?? 0, async ({ worker, found: embedded }) => {
    if (data) return embeddedSource(embedded);
    const asked = new URLSearchParams(OF_TRACE);
    for (const [name, value] of Object.entries({ run: found.run, worker, span: found.span })) asked.set(name, value);
    return liveSource(await askTimeline("lanes", asked), asked);
  });
}

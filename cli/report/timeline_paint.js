// Draws a timeline on its canvas: lanes, curves, gaps, arrows, the axis and the strip of the recording.
"use strict";

const ROW = 16, AXIS = 24, STRIP = 34, CURVE = 44, LANE_GAP = 7, HEAD = 20;
// Rows of deep stacks are lower, but no lower than this; names need this many pixels.
const LOWEST_ROW = 4, NAMED_ROW = 11;
// Width of the labels of lanes, and of those on a phone.
const LABELS = { wide: 168, narrow: 96 };
const CURVES = [
  { series: "gpu_busy", label: "busy", unit: "pct", top: 100 },
  { series: "sm_efficiency", label: "SM efficiency", unit: "pct", top: 100 },
  { series: "queue_length", label: "launch queue", unit: "-", top: null },
  { series: "memory", label: "memory", unit: "bytes", top: null },
];

// A round distance between ticks.
function tickLength(length, most) {
  const least = length / most;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least);
}

// Two or three significant digits, and one unit for all ticks of an axis.
function tickTexts(ticks, between) {
  const [size, word] = scale("ns", Math.max(Math.abs(ticks.at(-1) ?? 0), between));
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(between / size) + 0.001)));
  return ticks.map((tick) => `${(tick / size).toLocaleString("en", { minimumFractionDigits: digits,
    maximumFractionDigits: digits })} ${word}`);
}

// The longest start of a text that is no wider than a width.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low ? `${text.slice(0, low)}…` : "";
}

// The same, cut in the middle: the ends of names differ.
function fittedInside(context, text, width) {
  for (let letters = text.length; letters > 8; letters -= 1) {
    const cut = shortened(text, letters);
    if (context.measureText(cut).width <= width) return cut;
  }
  return fitted(context, text, width);
}

class Painter {
  constructor(timeline) {
    this.timeline = timeline;
    this.forgetColors();
  }

  // Names of page colours -> their values, read when they are used.
  forgetColors() {
    const style = getComputedStyle(document.documentElement);
    this.colors = new Proxy({}, { get: (known, name) => (known[name] ??= style.getPropertyValue(`--${name}`).trim()) });
  }

  paint() {
    const { canvas, width, height, scroll, placed, labels, plot, isShown, range } = this.timeline;
    const { colors } = this;
    const context = canvas.getContext("2d");
    this.context = context;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const ticks = this.ticks();
    context.save();
    context.beginPath();
    context.rect(0, STRIP + AXIS, width, height - STRIP - AXIS);
    context.clip();
    context.translate(0, -scroll);
    context.strokeStyle = colors.line;
    for (const { x } of ticks) {
      context.beginPath();
      context.moveTo(x + 0.5, scroll);
      context.lineTo(x + 0.5, scroll + height);
      context.stroke();
    }
    for (const place of placed) {
      if (place.top > scroll + height || place.top + place.height < scroll + STRIP) continue;
      if (place.isHead) {
        this.head(place);
        continue;
      }
      context.fillStyle = colors.line;
      if (!place.track.isFolded) context.fillRect(0, place.top + place.height + Math.floor(LANE_GAP / 2), width, 1);
      context.save();
      context.beginPath();
      context.rect(labels, place.top - 2, plot, place.height + 4);
      context.clip();
      if (place.lane) {
        if (isShown.gaps && place.track.gaps && place.lane.kind === "stream") this.gaps(place);
        this.lane(place);
      } else this.curve(place);
      context.restore();
      this.label(place);
    }
    if (isShown.arrows) this.arrows();
    context.restore();
    if (range) {
      const [from, to] = [range.start, range.start + range.length].map((time) => this.timeline.xOf(time));
      context.fillStyle = colors["c-range"];
      context.fillRect(from, STRIP, to - from, height - STRIP);
      context.strokeStyle = colors.link;
      context.strokeRect(from + 0.5, STRIP + 0.5, to - from, height - STRIP - 1);
    }
    this.axis(ticks);
    this.strip();
  }

  ticks() {
    const { view, plot } = this.timeline;
    const between = tickLength(view.to - view.from, Math.max(2, plot / 110));
    const times = [];
    // Without + 0 the first tick may be −0.
    for (let time = Math.ceil(view.from / between) * between + 0; time <= view.to; time += between) times.push(time);
    const texts = tickTexts(times, between);
    return times.map((time, n) => ({ x: Math.round(this.timeline.xOf(time)), text: texts[n] }));
  }

  axis(ticks) {
    const { context, colors } = this;
    const { width, labels } = this.timeline;
    context.fillStyle = colors.panel;
    context.fillRect(0, STRIP, width, AXIS);
    context.fillStyle = colors.soft;
    for (const { x, text } of ticks) {
      if (x < labels - 4) continue;
      if (x + 4 + context.measureText(text).width < width) context.fillText(text, x + 4, STRIP + AXIS / 2);
      context.fillRect(x, STRIP + AXIS - 6, 1, 6);
    }
    context.fillStyle = colors.line;
    context.fillRect(0, STRIP + AXIS - 1, width, 1);
  }

  // The whole recording, with a frame around what is in view.
  strip() {
    const { context, colors } = this;
    const { width, labels, plot, view, tracks: [track] } = this.timeline;
    const xOf = (time) => this.timeline.stripX(time + track.shift);
    context.fillStyle = colors.panel;
    context.fillRect(0, 0, width, STRIP);
    context.fillStyle = colors.paper;
    context.fillRect(labels, 2, plot, STRIP - 6);
    const series = track.recorded;
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
      const { whole } = track.source;
      whole.start.forEach((start, n) => {
        if (whole.depth[n] > 1 || !whole.laneOf(n).startsWith("thread")) return;
        context.fillStyle = colors[`c-${whole.colors[n]}`];
        context.fillRect(xOf(start), whole.depth[n] ? 16 : 4, Math.max(1, xOf(start + whole.length[n]) - xOf(start)), 11);
      });
    }
    const from = Math.max(this.timeline.stripX(view.from), labels);
    const to = Math.min(this.timeline.stripX(view.to), width - 1);
    context.fillStyle = colors["c-veil"];
    context.fillRect(labels, 2, from - labels, STRIP - 6);
    context.fillRect(to, 2, width - to, STRIP - 6);
    context.strokeStyle = colors.link;
    context.strokeRect(from + 0.5, 2.5, Math.max(to - from, 2), STRIP - 7);
    context.fillStyle = colors.soft;
    context.fillText("Recording", 0, 11);
    context.fillText(exactTime(track.length), 0, 24);
  }

  // The name of one of several traces, and how its clock was aligned.
  head({ track, top, height }) {
    const { context, colors } = this;
    const { width, labels } = this.timeline;
    context.fillStyle = colors.paper;
    context.fillRect(0, top, width, height);
    context.fillStyle = colors.ink;
    context.font = "600 11px system-ui, sans-serif";
    const name = fittedInside(context, `${track.isFolded ? "▸" : "▾"} ${track.name}`, width * 0.75);
    context.fillText(name, 0, top + height / 2);
    const from = Math.max(labels, context.measureText(name).width + 12);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colors.soft;
    const note = track.source ? track.note : "loading…";
    if (from < width) context.fillText(fitted(context, note, width - from), from, top + height / 2);
  }

  label({ track, lane, curve, device, top, height }) {
    const { context, colors } = this;
    const { labels } = this.timeline;
    const isNarrow = labels < LABELS.wide;
    let [first, second] = lane ? [lane.label, lane.detail] : [track.curveLabel(curve, device), track.curveDetail(curve, device)];
    if (isNarrow && lane?.short) [first, second] = lane.short;
    // In a single row, the stream is what differs.
    if (isNarrow && lane?.short && height === ROW) first = second;
    context.fillStyle = colors.panel;
    context.fillRect(0, top - 2, labels - 1, height + 4);
    context.fillStyle = colors.ink;
    context.fillText(fitted(context, first, labels - 10), 0, top + 7);
    context.fillStyle = colors.soft;
    if (second && height > ROW) context.fillText(fitted(context, second, labels - 10), 0, top + 21);
  }

  gaps({ track, lane, top, height }) {
    const { context, colors } = this;
    const { labels, width } = this.timeline;
    const { gaps } = track;
    for (let n = 0; n < gaps.rows; n += 1) {
      if (gaps.texts.device[gaps.device[n]] !== lane.pid) continue;
      const [from, to] = this.timeline.span(track, gaps.start[n], gaps.length[n]);
      if (to < labels || from > width || to - from < 2) continue;
      context.fillStyle = colors["c-gap"];
      context.fillRect(from, top - 2, to - from, height + 4);
      const left = Math.max(from, labels) + 6;
      const why = track.gapText(n);
      const room = Math.min(to, width) - left - 4;
      // In a folded trace the first stream says it for all.
      const isSaid = track.isFolded && track.lanes.find((each) => each.kind === "stream" && each.pid === lane.pid) !== lane;
      if (room > 60 && !isSaid) {
        context.fillStyle = colors["c-gap-ink"];
        context.fillText(fitted(context, why, room), left, top + height / 2);
      }
    }
  }

  lane({ track, lane, top, rows, row: high }) {
    const { context, colors } = this;
    const { labels, width, isShown } = this.timeline;
    const { start, length, events, busy, event_id: ids, colors: names } = track.rectangles;
    const path = isShown.critical ? track.critical?.events : null;
    const marked = this.marked(track);
    const gap = high < 14 ? 1 : 2;
    context.font = `${Math.min(11, high - 2)}px system-ui, sans-serif`;
    for (const n of track.inLane(lane.lane)) {
      const [from, to] = this.timeline.span(track, start[n], length[n]);
      if (to < labels || from > width) continue;
      const left = Math.max(from, labels - 2);
      const wide = Math.max(Math.min(to, width + 2) - left, 1);
      const row = track.rowOf(n, lane);
      if (row >= rows) continue;
      const y = top + row * high;
      const isBlock = events[n] > 1;
      // A block is as strong as it is full.
      context.globalAlpha = (isBlock ? 0.35 + 0.65 * (busy[n] / 100) : 1) * (path && !path.has(ids[n]) ? 0.25 : 1);
      context.fillStyle = colors[`c-${names[n]}`];
      context.fillRect(left, y, wide > 3 ? wide - 0.5 : wide, high - gap);
      context.globalAlpha = 1;
      if (path?.has(ids[n])) {
        context.fillStyle = colors["c-path"];
        context.fillRect(left, y + high - gap - 2, wide, 2);
      }
      if (marked.has(`${lane.lane} ${ids[n]}`)) {
        context.strokeStyle = colors.ink;
        context.lineWidth = 1.5;
        context.strokeRect(left - 0.5, y - 0.5, wide + 1, high - gap + 1);
        context.lineWidth = 1;
      }
      if (wide > 28 && high >= NAMED_ROW && !isBlock) {
        context.fillStyle = colors[`c-${names[n]}-ink`] || colors["c-ink"];
        context.fillText(fitted(context, track.rectangles.nameOf(n), wide - 8), left + 4, y + (high - gap) / 2 + 0.5);
      }
    }
    context.font = "11px system-ui, sans-serif";
  }

  // The selected event and what it launched, or what launched it.
  marked(track) {
    const { selected } = this.timeline;
    if (selected?.track !== track) return new Set();
    return new Set([selected, ...(selected.links ?? [])].map((each) => `${each.lane} ${each.event}`));
  }

  curve({ track, curve, device, top, height }) {
    const { context, colors } = this;
    const { labels, width } = this.timeline;
    if (device === null) {
      context.fillStyle = colors.soft;
      context.fillText(fitted(context, "trace_quality says how to record it.", width - labels - 8), labels + 8, top + height / 2);
      return;
    }
    const rows = track.curves ?? track.recorded;
    const kind = rows.texts.series?.indexOf(curve.series) ?? -1;
    const at = rows.texts.device?.indexOf(device) ?? -1;
    const most = curve.top ?? track.largestOf(curve, device);
    context.fillStyle = colors[curve.series === "gpu_busy" ? "c-kernel-soft" : "c-curve"];
    rows.series.forEach((each, n) => {
      if (each !== kind || rows.device[n] !== at || !most) return;
      const [from, to] = this.timeline.span(track, rows.start[n], rows.length[n]);
      if (to < labels || from > width) return;
      const size = Math.max(1, (height - 2) * Math.min(1, rows.value[n] / most));
      context.fillRect(from, top + height - size, Math.max(to - from - (to - from > 4 ? 1 : 0), 1), size);
    });
  }

  arrows() {
    const { context, colors } = this;
    const { selected, placed, labels, plot, scroll, total } = this.timeline;
    if (!selected?.links?.length) return;
    const pointOf = ({ lane, depth, start }) => {
      const place = placed.find((each) => each.track === selected.track && each.lane?.lane === lane);
      return place && { x: this.timeline.xOf(start + selected.track.shift),
        y: place.top + ((place.lane.kind === "thread" ? depth ?? 0 : 0) + 0.5) * place.row };
    };
    context.save();
    context.beginPath();
    context.rect(labels, scroll, plot, total);
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
}

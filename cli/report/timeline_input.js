// Keys, wheel and pointer on a timeline.
"use strict";

class TimelineInput {
  constructor(timeline, tip) {
    this.timeline = timeline;
    this.tip = tip; // what the pointer is on
    this.drag = null;
    const { box } = timeline;
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    box.addEventListener("pointerdown", (event) => this.press(event));
    box.addEventListener("pointermove", (event) => this.move(event));
    box.addEventListener("pointerup", (event) => this.release(event));
    box.addEventListener("pointerleave", () => { tip.hidden = true; });
    box.addEventListener("dblclick", (event) => {
      const hit = this.find(this.at(event));
      if (hit) timeline.showEvent(hit, 0.05);
    });
  }

  at(event) {
    const bounds = this.timeline.canvas.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { timeline } = this;
    const acts = {
      w: () => timeline.zoom(1 / 1.4), s: () => timeline.zoom(1.4), a: () => timeline.pan(-0.15), d: () => timeline.pan(0.15),
      f: () => {
        if (timeline.selected) timeline.showEvent(timeline.selected, 0.1);
        else if (timeline.range) timeline.showRange(timeline.range, 0.1);
        else timeline.fit();
      },
      n: () => timeline.search(1), p: () => timeline.search(-1), "/": () => timeline.searchBox.focus(),
      escape: () => { timeline.range = null; timeline.select(null); },
      arrowright: () => timeline.step(1), arrowleft: () => timeline.step(-1),
      arrowdown: () => timeline.climb(1), arrowup: () => timeline.climb(-1),
      home: () => timeline.pan(-Infinity), end: () => timeline.pan(Infinity),
    };
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  wheel(event) {
    const { timeline } = this;
    const { box } = timeline;
    // The page scrolls until the timeline is chosen by a click or by the keyboard.
    const isChosen = document.activeElement === box;
    if (event.ctrlKey || event.metaKey || (isChosen && !event.shiftKey && Math.abs(event.deltaY) > Math.abs(event.deltaX)
      && box.scrollHeight <= box.clientHeight + 1)) {
      event.preventDefault();
      timeline.zoom(1.0015 ** event.deltaY, timeline.timeAt(this.at(event).x));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      timeline.pan((event.deltaX || event.deltaY) / timeline.plot);
    }
  }

  // The lane, curve or head at a point.
  placeAt({ y }) {
    const { placed, scroll } = this.timeline;
    return y < STRIP + AXIS ? undefined : placed.find(({ top, height }) => y + scroll >= top && y + scroll < top + height);
  }

  // The event at a point.
  find({ x, y }) {
    const { timeline } = this;
    const place = this.placeAt({ y });
    if (x < timeline.labels || !place?.lane) return null;
    const { track, lane, top } = place;
    const row = Math.floor((y + timeline.scroll - top) / place.row);
    let best = null;
    for (const n of track.inLane(lane.lane)) {
      if (track.rowOf(n, lane) !== row) continue;
      const [from, end] = timeline.span(track, track.rectangles.start[n], track.rectangles.length[n]);
      const to = Math.max(end, from + 1);
      // A narrow event is found from a pixel beside it.
      const distance = x < from ? from - x : Math.max(0, x - to);
      if (distance <= 2 && (best === null || distance < best.distance)) best = { n, distance };
    }
    return best && track.eventAt(best.n);
  }

  press(event) {
    if (event.button !== 0) return;
    const { timeline } = this;
    const point = this.at(event);
    this.tip.hidden = true;
    const mode = point.y < STRIP ? "strip" : event.shiftKey || point.y < STRIP + AXIS ? "pan" : "range";
    this.drag = { mode, x: point.x, place: this.placeAt(point), view: { ...timeline.view }, moved: false };
    if (mode === "strip") timeline.jump(point.x);
    if (event.pointerType !== "touch") timeline.canvas.setPointerCapture?.(event.pointerId);
  }

  move(event) {
    const { drag, timeline } = this;
    const point = this.at(event);
    if (!drag || !(event.buttons & 1)) {
      this.drag = null;
      this.hover(event, point);
      return;
    }
    drag.moved ||= Math.abs(point.x - drag.x) > 3;
    if (!drag.moved) return;
    if (drag.mode === "strip") timeline.jump(point.x);
    else if (drag.mode === "pan") {
      const by = ((drag.x - point.x) / timeline.plot) * (drag.view.to - drag.view.from);
      timeline.show(drag.view.from + by, drag.view.to + by);
    } else {
      const [from, to] = [drag.x, point.x].map((x) => timeline.timeAt(Math.max(x, timeline.labels)));
      timeline.range = { start: Math.min(from, to), length: Math.abs(to - from) };
      timeline.draw();
    }
  }

  release(event) {
    const { drag, timeline } = this;
    this.drag = null;
    if (drag?.mode !== "range") return;
    if (drag.moved) timeline.selectRange(drag.place?.track ?? timeline.main);
    else if (drag.place?.isHead) timeline.fold(drag.place.track, !drag.place.track.isFolded);
    else {
      timeline.range = null;
      timeline.select(this.find(this.at(event)));
    }
  }

  hover(event, point) {
    const hit = this.find(point);
    this.timeline.canvas.style.cursor = hit || this.placeAt(point)?.isHead ? "pointer" : "default";
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
}

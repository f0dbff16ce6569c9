// Which workers stand in a timeline one below the other, and what is said of their clocks.
"use strict";

// Most workers in a timeline at a time. Only those on the screen are requested.
const MOST_TRACKS = 64;

class TimelineStack {
  // `workers` are the rows of sql/queries/timeline/stack.sql; `open` returns the source of one of them.
  // `left` is how many more there are that the file has no room for.
  constructor(timeline, box, workers, own, left, open) {
    Object.assign(this, { timeline });
    this.workers = named(workers);
    this.offered = this.workers.map((worker) => (worker.worker === own ? timeline.main
      : new Track({ name: worker.name, shift: worker.shift, length: worker.length, note: clockNote(worker), open: () => open(worker) })));
    this.chips = element("span", { className: "group chips" });
    this.clocks = element("p", { className: "said" });
    this.clocks.setAttribute("aria-live", "polite");
    this.add = element("select", { ariaLabel: "Add a worker to the timeline", onchange: () => this.show(this.add.value, true) });
    this.all = element("button", { type: "button", textContent: workers.length > MOST_TRACKS ? `First ${MOST_TRACKS} of ${workers.length} workers` : `All ${workers.length} workers`,
      title: "Show the workers one below the other",
      onclick: () => this.choose(workers.slice(0, MOST_TRACKS).map(({ worker }) => worker)) });
    this.one = element("button", { type: "button", textContent: "One worker", onclick: () => this.choose([]) });
    box.append(element("span", { className: "group" }, this.all, this.one, this.add), this.chips, this.clocks);
    if (left) {
      box.append(element("p", { className: "said",
        textContent: `The file has no room for ${left} more worker${left > 1 ? "s" : ""}. tracewh serve shows all of them.` }));
    }
    this.describe();
  }

  get ownName() { return this.workers[this.offered.indexOf(this.timeline.main)].name; }

  isShown(worker) { return this.timeline.tracks.includes(this.trackOf(worker)); }

  trackOf(worker) { return this.offered[this.workers.findIndex((each) => each.worker === worker)]; }

  // Shows a worker under the others, or no longer.
  show(worker, isShown) {
    const shown = this.workers.map((each) => each.worker).filter((each) => (each === worker ? isShown : this.isShown(each)));
    this.choose(shown);
  }

  // Shows these workers and the trace of the page.
  choose(names) {
    const { timeline } = this;
    const wanted = this.offered.filter((track, n) => track !== timeline.main && names.includes(this.workers[n].worker))
      .slice(0, MOST_TRACKS - 1);
    const had = timeline.tracks.filter((track) => this.offered.includes(track)).length;
    if (wanted.length && had === 1) timeline.main.isFolded = timeline.baseline === null;
    if (!wanted.length) timeline.main.isFolded = false;
    for (const track of wanted) if (!timeline.tracks.includes(track)) track.isFolded = true;
    if (!timeline.baseline) timeline.main.name = wanted.length ? this.ownName : "";
    timeline.setTracks([timeline.main, ...(timeline.baseline ? [timeline.baseline] : []), ...wanted]);
    this.describe();
  }

  describe() {
    const { timeline } = this;
    const shown = this.offered.filter((track) => timeline.tracks.includes(track));
    const isStacked = timeline.tracks.length > 1;
    this.one.hidden = shown.length < 2;
    this.all.hidden = shown.length === Math.min(this.workers.length, MOST_TRACKS);
    this.add.replaceChildren(element("option", { value: "", textContent: "Add a worker…" }), ...this.workers
      .filter((worker, n) => !timeline.tracks.includes(this.offered[n]))
      .map((worker) => element("option", { value: worker.worker, textContent: worker.name })));
    this.add.hidden = this.add.options.length < 2 || shown.length >= MOST_TRACKS;
    this.chips.replaceChildren(...(isStacked ? timeline.tracks.map((track) => this.chip(track)) : []));
    const rows = this.workers.filter((worker, n) => this.offered[n] !== timeline.main && shown.includes(this.offered[n]));
        this.clocks.textContent = rows.length ? clocksSaid(rows, this.ownName) : "";
    timeline.box.dispatchEvent(new Event("stacked", { bubbles: true }));
  }

  // Unfolds a trace, or takes it away.
  chip(track) {
    const { timeline } = this;
    const fold = element("button", { type: "button", textContent: track.name, title: "Show all lanes, or the outermost only",
      ariaExpanded: String(!track.isFolded), onclick: () => {
        timeline.fold(track, !track.isFolded);
        this.chips.children[timeline.tracks.indexOf(track)]?.firstChild.focus();
      } });
    const at = this.offered.indexOf(track);
    const close = element("button", { type: "button", textContent: "×", ariaLabel: `Take ${track.name} out of the timeline`,
      onclick: () => { this.show(this.workers[at].worker, false); timeline.box.focus(); } });
    return element("span", { className: "chip" }, fold, ...(track === timeline.main || at < 0 ? [] : [close]));
  }
}

// By their ranks if these tell them apart.
function named(workers) {
  const isRanked = workers.every(({ rank }) => rank !== null) && new Set(workers.map(({ rank }) => rank)).size === workers.length;
  return workers.map((each) => ({ ...each, name: isRanked ? `rank ${each.rank}` : each.worker }));
}

// What stands beside the name of a worker.
function clockNote({ aligned_by: by, source, ahead }) {
  if (source === "host") return "same host, same clock";
  if (by === "clock") return ahead === 0 ? "clock agrees" : `moved by ${signedTime(-ahead)} to the clock of the first`;
  return { recorded: "clock not aligned: as recorded", step: "clock not aligned: from its first step",
    start: "clock not aligned: from its start" }[by];
}

function signedTime(ns) { return `${ns < 0 ? "−" : "+"}${rounded(Math.abs(ns), "ns")}`; }

// How the clocks of workers were aligned with that of the reference, or why not.
function clocksSaid(rows, reference) {
  const said = [];
  const group = (test) => rows.filter(test);
  const names = (some) => (some.length > 3 ? `${some.length} workers` : some.map(({ name }) => name).join(" and "));
  const host = group(({ source }) => source === "host");
  if (host.length) said.push(`${names(host)} ran on the host of ${reference} and ${host.length > 1 ? "share" : "shares"} its clock.`);
  const compared = group(({ source }) => source === "collectives");
  if (compared.length) {
    const by = compared.map(({ ahead }) => -ahead);
    const [least, most] = [Math.min(...by), Math.max(...by)];
    const calls = Math.min(...compared.map(({ allowing }) => allowing));
    const why = `${compared.length > 1 ? `at least ${calls}` : calls} collectives end together`;
    const within = `within ${rounded(Math.max(...compared.map(({ spread }) => spread)), "ns")}`;
    said.push(least === 0 && most === 0
      ? `The clock of ${names(compared)} agrees with that of ${reference}: ${why}, ${within}.`
      : `The times of ${names(compared)} are moved by ${least === most ? signedTime(least) : `${signedTime(least)} to ${signedTime(most)}`}`
        + ` to the clock of ${reference}. Then ${why}, ${within}.`);
  }
  const left = group(({ offset, aligned_by: by }) => by !== "clock");
  for (const [by, what] of [["recorded", "drawn as recorded"], ["step", `drawn from ${left.length > 1 ? "their" : "its"} first step on`],
    ["start", `drawn from ${left.length > 1 ? "their" : "its"} start on`]]) {
    const some = left.filter((row) => row.aligned_by === by);
    if (some.length) said.push(`The clock of ${names(some)} is not aligned, and ${some.length > 1 ? "they are" : "it is"} ${what}. ${some[0].reason}`);
  }
  return typeset(said.join(" ").replace(/(^|\. )rank/g, "$1Rank"));
}

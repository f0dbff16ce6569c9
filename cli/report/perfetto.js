// Hands the trace to Perfetto in a new window, by the protocol of
// https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui: PING until PONG, then the trace.
"use strict";

const PING_MS = 100;
const perfetto = document.getElementById("perfetto");
const handover = document.getElementById("handover");

// Ends when the page in a window says that it is ready, and fails if the window is closed.
function ready(opened, origin) {
  return new Promise((resolve, reject) => {
    const end = (act) => {
      clearInterval(timer);
      window.removeEventListener("message", listen);
      act();
    };
    const listen = (event) => {
      if (event.source === opened && event.origin === origin && event.data === "PONG") end(resolve);
    };
    const timer = setInterval(() => {
      if (opened.closed) end(() => reject(new Error("The window of Perfetto was closed.")));
      else opened.postMessage("PING", "*"); // a page that is still loading has another origin
    }, PING_MS);
    window.addEventListener("message", listen);
  });
}

// The address at which Perfetto shows the part that the timeline shows. A browser sends its server nothing after the #.
function addressOfView({ address, base }) {
  const { main, view } = document.getElementById("timeline").timeline ?? {};
  if (!main || address.includes("#")) return address;
  // Perfetto ignores a range that is not within the trace.
  const from = Math.max(Math.round(view.from - main.shift), 0);
  const to = Math.min(Math.round(view.to - main.shift), main.length - 1);
  if (from >= to || to - from === main.length - 1) return address;
  const start = BigInt(main.source.found.start_ns) - BigInt(base);
  return `${address}#!/?visStart=${start + BigInt(from)}&visEnd=${start + BigInt(to)}`;
}

async function exported(signal) {
  const response = await request(`api/trace${OF_TRACE}`, { signal });
  return explained(response.arrayBuffer());
}

perfetto.addEventListener("click", async () => {
  const { address, title: name } = perfetto.dataset;
  const { origin } = new URL(address);
  const opened = window.open(addressOfView(perfetto.dataset)); // a browser allows this only at once after a click
  if (!opened) {
    handover.textContent = "The browser blocked the new window: allow this page to open windows.";
    return;
  }
  const aborter = new AbortController();
  perfetto.disabled = true;
  handover.textContent = "Exporting the trace…";
  try {
    const isReady = ready(opened, origin);
    isReady.catch(() => aborter.abort());
    const buffer = await exported(aborter.signal).catch((error) => (aborter.signal.aborted ? null : Promise.reject(error)));
    handover.textContent = `Waiting for ${origin}…`;
    await isReady;
    const size = shown(buffer.byteLength, "bytes");
    opened.postMessage({ perfetto: { buffer, title: name } }, origin, [buffer]);
    handover.textContent = `Handed over, ${size}.`;
  } catch (error) {
    handover.textContent = error.message;
  }
  perfetto.disabled = false;
});

// A browser starts no worker for a page that was opened as a file. The search of the site then runs in a hidden
// frame of the page. On a server this file does nothing.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #inside;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const scope = frame.contentWindow;
      // What the search posts goes to the page, not to its own frame.
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = scope.document.createElement("script");
      script.src = new URL(url, location);
      this.#inside = new Promise((resolve) => {
        script.onload = () => resolve(scope);
      });
      scope.document.body.append(script);
    }

    async postMessage(data) {
      (await this.#inside).dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}

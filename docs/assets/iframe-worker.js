// Browsers start no worker on a page that was opened from a folder, and the search of the site is one. There
// a frame, which the reader does not see, does the worker's part. The theme looks for it by this name.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<body></body>";
      this.frame = frame;
      this.ready = new Promise((resolve) => { frame.onload = resolve; }).then(() => {
        // Each side answers to what the other one posts, later, as between threads.
        frame.contentWindow.postMessage = (data) => this.deliver(this, data);
        frame.contentWindow.importScripts = (...scripts) =>
          scripts.reduce((before, script) => before.then(() => this.load(script)), Promise.resolve());
        return this.load(address);
      });
      document.body.append(frame);
    }

    deliver(target, data) {
      const event = new MessageEvent("message", { data: structuredClone(data) });
      setTimeout(() => (target === this && this.onmessage ? this.onmessage(event) : target.dispatchEvent(event)));
    }

    load(address) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = new URL(address, location.href);
        script.onload = resolve;
        script.onerror = reject;
        this.frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.deliver(this.frame.contentWindow, data));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}

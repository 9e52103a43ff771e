/**
 * Progress of XHR uploads. Of a request that a service worker answers, the browser tells that its upload began or failed,
 * and no more: the rest comes from the service worker, for a request whose `upload` the page has asked for.
 */
import { UPLOAD_NUMBER } from "../../messages/worker-messages.ts";
import { patchAccessor, patchMethod } from "./patch.ts";
import type { WorkerClient } from "./worker-client.ts";

const { setRequestHeader } = XMLHttpRequest.prototype;
const { addEventListener, dispatchEvent } = EventTarget.prototype;

let lastNumber = 0;

/** The uploads of one XMLHttpRequest, one after the other. */
class Uploads {
  readonly #request: XMLHttpRequest;
  readonly #target: XMLHttpRequestUpload;
  readonly #worker: WorkerClient;
  #number = 0;
  /** Bytes of the upload that is under way. */
  #total: number | null = null;

  constructor(request: XMLHttpRequest, target: XMLHttpRequestUpload, worker: WorkerClient) {
    this.#request = request;
    this.#target = target;
    this.#worker = worker;
    addEventListener.call(target, "loadstart", (event) => {
      if (event.isTrusted) this.#total = (event as ProgressEvent).total;
    });
    for (const name of ["progress", "load", "abort", "error", "timeout", "loadend"])
      addEventListener.call(target, name, (event) => this.#filter(event));
    addEventListener.call(request, "readystatechange", () => {
      // The answer may overtake the last messages.
      if (request.readyState === XMLHttpRequest.HEADERS_RECEIVED && this.#total !== null) this.#tell(this.#total);
    });
  }

  /** A body is about to be sent. */
  begin(): void {
    this.#end();
    lastNumber += 1;
    this.#number = lastNumber;
    setRequestHeader.call(this.#request, UPLOAD_NUMBER, String(lastNumber));
    this.#worker.uploads.set(lastNumber, (loaded, total) => {
      if (this.#total === null) return;
      this.#total = total;
      this.#tell(loaded);
    });
  }

  /** The browser's own events go to the page up to the end of an upload, of which it may not know. */
  #filter(event: Event): void {
    if (!event.isTrusted) return;
    if (this.#total === null) event.stopImmediatePropagation();
    else if (event.type === "loadend") this.#end();
  }

  #tell(loaded: number): void {
    const total = this.#total ?? loaded;
    const isOver = loaded >= total;
    if (isOver) this.#end();
    for (const name of isOver ? ["progress", "load", "loadend"] : ["progress"])
      dispatchEvent.call(this.#target, new ProgressEvent(name, { lengthComputable: true, loaded, total }));
  }

  #end(): void {
    this.#total = null;
    this.#worker.uploads.delete(this.#number);
  }
}

export function patchUploads(worker: WorkerClient): void {
  const known = new WeakMap<object, Uploads>();
  patchAccessor(XMLHttpRequest.prototype, "upload", {
    get(native, self) {
      const target = native() as XMLHttpRequestUpload;
      const request = self as XMLHttpRequest;
      if (!known.has(request)) known.set(request, new Uploads(request, target, worker));
      return target;
    },
  });
  patchMethod(XMLHttpRequest.prototype, "send", (native, self, args) => {
    if (args[0] !== undefined && args[0] !== null) known.get(self as object)?.begin();
    return native(self, args);
  });
}

import type { Page, Request } from "@playwright/test";

/** How many quiet milliseconds show that a page asks for nothing more. */
const QUIET = 3_000;
const POLL = 25;

/**
 * What the page and its frames asked for and got, as the browser tells: bodies that ended, with a status of success,
 * whether they came from the network, a cache or a service worker. Each address counts once.
 */
export class Arrivals {
  readonly #page: Page;
  readonly #isCounted: (url: URL) => boolean;
  readonly #whole = new Set<string>();
  readonly #failed = new Map<string, string>();
  readonly #underWay = new Set<Request>();
  #lastChange = performance.now();

  /** @param isCounted false for what does not belong to the page. */
  constructor(page: Page, isCounted: (url: URL) => boolean = () => true) {
    this.#page = page;
    this.#isCounted = isCounted;
    page.on("request", this.#onRequest);
    page.on("requestfinished", this.#onFinished);
    page.on("requestfailed", this.#onFailed);
  }

  /** Objects that arrived whole. */
  get whole(): number {
    return this.#whole.size;
  }

  /** Waits until this many objects have arrived, or the page has shown that it gets no more. */
  async settled(objects: number): Promise<void> {
    while (this.whole < objects && !this.#isQuiet()) await new Promise((resolve) => setTimeout(resolve, POLL));
  }

  /** What failed and came when it was asked for again has not. */
  get hasFailures(): boolean {
    return this.#failed.size > 0;
  }

  /** For error messages: up to three that failed. */
  get failures(): string {
    const some = [...this.#failed].slice(0, 3).map(([url, reason]) => `${url} (${reason})`);
    return some.length === 0 ? "none failed" : `failed: ${some.join(", ")}`;
  }

  stop(): void {
    this.#page.off("request", this.#onRequest);
    this.#page.off("requestfinished", this.#onFinished);
    this.#page.off("requestfailed", this.#onFailed);
  }

  readonly #onRequest = (request: Request): void => {
    if (this.#counts(request)) this.#underWay.add(request);
  };

  readonly #onFinished = (request: Request): void => {
    if (!this.#counts(request)) return;
    this.#ended(request);
    const status = request.existingResponse()?.status() ?? 0;
    const isSuccess = (status >= 200 && status < 300) || status === 304;
    if (isSuccess) {
      this.#whole.add(request.url());
      this.#failed.delete(request.url());
    }
    // A redirection is no object, and what it leads to is a request of its own.
    else if (request.redirectedTo() === null) this.#failed.set(request.url(), `status ${status}`);
  };

  readonly #onFailed = (request: Request): void => {
    if (!this.#counts(request)) return;
    this.#ended(request);
    this.#failed.set(request.url(), request.failure()?.errorText ?? "failed");
  };

  #counts(request: Request): boolean {
    const url = URL.parse(request.url());
    return url !== null && /^https?:$/.test(url.protocol) && this.#isCounted(url);
  }

  #ended(request: Request): void {
    this.#underWay.delete(request);
    this.#lastChange = performance.now();
  }

  #isQuiet(): boolean {
    return this.#underWay.size === 0 && performance.now() - this.#lastChange > QUIET;
  }
}

/** Cookies of scripts: `document.cookie`, and requests that must not overtake it. */
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import { ScriptCookies } from "../../../shared/web/cookie.ts";
import type { PageToWorker } from "../../messages/worker-messages.ts";
import type { SlotIdentity } from "../slot-url.ts";
import type { PageContext } from "./page-context.ts";
import { patchAccessor, patchMethod } from "./patch.ts";

/** Milliseconds after which the service worker is taken not to answer; on a slow phone one that was stopped starts in seconds. */
const TAKEN_TIMEOUT = 10_000;

export type CookieSet = Omit<Extract<PageToWorker, { type: "cookie-set" }>, "tag" | "type">;

/** Cookies as scripts of this page read and write them: a mirror of the jar, which the service worker keeps up to date. */
export class PageCookies {
  readonly #context: PageContext;
  readonly #tell: (cookie: CookieSet) => void;
  readonly #mirror = new ScriptCookies(Date.now);
  readonly #taken = new TakenCookies();

  /** @param tell gives the service worker a cookie that a script has set; `taken` is its answer. */
  constructor(context: PageContext, tell: (cookie: CookieSet) => void) {
    this.#context = context;
    this.#tell = tell;
    this.show(context.config.cookies);
  }

  /** Scripts of the page read them from now on. */
  show(cookies: readonly ScriptCookie[]): void {
    this.#mirror.apply(cookies);
  }

  /** A script of another window of this origin has set it. */
  hear({ value, url }: CookieSet): void {
    this.#mirror.write(value, url, this.#context.config.suffix);
  }

  /** The service worker has the cookie of this number. */
  taken(number: number): void {
    this.#taken.taken(number);
  }

  /** Of this window. */
  patchWindow(): void {
    this.patchCookie(Document.prototype);
    patchRequests(this.#taken);
  }

  /** `document.cookie` reads and writes the mirror, in this realm or a blank frame's. */
  patchCookie(prototype: object): void {
    patchAccessor(prototype, "cookie", {
      get: () => this.#mirror.read(this.#context.realUrl()),
      set: (_native, _self, text) => {
        const value = withRealDomain(String(text), this.#context.config);
        const url = this.#context.realUrl();
        if (!this.#mirror.write(value, url, this.#context.config.suffix)) return;
        const number = this.#taken.begin();
        this.#tell({ number, value, url });
        setTimeout(() => this.taken(number), TAKEN_TIMEOUT);
      },
    });
  }
}

/**
 * Cookies that scripts have set, and that are on their way to the edge. A request overtakes a message to the service worker
 * that was posted before it (Chromium 156), and would be sent without the cookie.
 */
export class TakenCookies {
  #set = 0;
  #taken = 0;
  #waiting: { readonly number: number; readonly go: () => void }[] = [];

  /** @returns the number of a cookie that is being set. */
  begin(): number {
    this.#set += 1;
    return this.#set;
  }

  /** This one, and those before it, are ahead of every request that follows. */
  taken(number: number): void {
    this.#taken = Math.max(this.#taken, number);
    const ready = this.#waiting.filter((each) => each.number <= this.#taken);
    this.#waiting = this.#waiting.filter((each) => each.number > this.#taken);
    for (const { go } of ready) go();
  }

  /** When a request may go; null for now. */
  whenTaken(): Promise<void> | null {
    const number = this.#set;
    if (this.#taken >= number) return null;
    return new Promise((go) => {
      this.#waiting.push({ number, go });
    });
  }
}

/** Requests of scripts go after the cookies that scripts set before them. */
function patchRequests(cookies: TakenCookies): void {
  patchMethod(window, "fetch", (native, self, args) => {
    const taken = isKeptAlive(args) ? null : cookies.whenTaken();
    return taken === null ? native(self, args) : taken.then(() => native(self, args));
  });
  const waiting = new WeakMap<object, Promise<void>>();
  patchMethod(XMLHttpRequest.prototype, "send", (native, self, args) => {
    const taken = cookies.whenTaken();
    if (taken === null || !(self instanceof XMLHttpRequest) || self.readyState !== XMLHttpRequest.OPENED)
      return native(self, args);
    waiting.set(self, taken);
    void taken.then(() => {
      if (waiting.get(self) !== taken) return;
      waiting.delete(self);
      native(self, args);
    });
    return undefined;
  });
  for (const name of ["open", "abort"])
    patchMethod(XMLHttpRequest.prototype, name, (native, self, args) => {
      waiting.delete(self as object);
      return native(self, args);
    });
}

/** The page may go at once, and with it every task that waits. */
function isKeptAlive([input, init]: readonly unknown[]): boolean {
  return (init as RequestInit | undefined)?.keepalive ?? (input instanceof Request && input.keepalive);
}

/**
 * The cookie string as the page means it. Scripts make the `domain` attribute from `location.hostname`, or what is left
 * when labels are cut from its front: that names the slot or a host above it, and means the real host. A single label
 * stays, and is refused as the public suffix that it would be: scripts that look for the widest domain begin there.
 */
export function withRealDomain(cookie: string, { slotOrigin, realOrigin }: SlotIdentity): string {
  const slotHost = new URL(slotOrigin).hostname;
  return cookie.replace(/(;\s*domain\s*=\s*\.?)([^;\s]+\.[^;\s]+)/gi, (attribute, start: string, domain: string) =>
    `.${slotHost}`.endsWith(`.${domain.toLowerCase()}`) ? start + new URL(realOrigin).hostname : attribute,
  );
}

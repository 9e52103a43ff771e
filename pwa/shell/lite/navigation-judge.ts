/** Decides where the frame of pages without scripts may go: only the tab sends it to another site. */
import type { LiteAnswer, LiteQuestion } from "../../messages/lite-messages.ts";

/** Milliseconds in which a frame that the tab sends somewhere sets out. */
const PERMIT_TIME = 5_000;

export type Judgement =
  | LiteAnswer
  /** The frame goes on, and the tab should know. */
  | "leaves"
  /** The tab has to do it, so that the edge knows who wants it. */
  | "hand-over"
  /** Of the tab's own, it seems, but the browser does not say who asks, as WebKit: no page can be shown. */
  | "untold";

type Asked = Pick<LiteQuestion & { type: "lite-navigation" }, "url" | "method" | "mayBeApps" | "from" | "isRestored">;

export class NavigationJudge {
  readonly #now: () => number;
  #permit: { readonly url: string; readonly at: number } | null = null;
  #announced: { readonly url: string; readonly at: number; readonly isRestored: boolean } | null = null;
  #resends = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The tab sends the frame to a real URL, which it asks for once. */
  permit(url: string): void {
    this.#permit = { url: bare(url), at: this.#now() };
  }

  /**
   * The frame's own document is about to be left. Firefox tells the worker nothing of who leaves where a page says
   * `noreferrer`, and never that an entry of the history is loaded again.
   *
   * @param url as the worker will ask for it.
   */
  announce(url: string, isRestored: boolean): void {
    this.#announced = { url: bare(url), at: this.#now(), isRestored };
  }

  /** The frame is wanted elsewhere, or nowhere. */
  withdraw(): void {
    this.#permit = null;
    this.#announced = null;
    this.#resends = false;
  }

  /** The person wants what a form sent to be sent again. */
  permitResending(): void {
    this.#resends = true;
  }

  /** @param shown real URL of the frame's document, or null. */
  judge({ url, method, mayBeApps, from, isRestored }: Asked, shown: string | null): Judgement {
    const announced = this.#isOf(this.#announced, url) ? this.#announced : null;
    if (announced !== null) this.#announced = null;
    if (method === "GET" && mayBeApps && this.#take(url)) return "go";
    const isMine = announced !== null || (from !== null && shown !== null && bare(from) === bare(shown));
    if ((isRestored || announced?.isRestored === true) && (isMine || from === null))
      return method === "GET" || this.#takeResending() ? "go" : "stay";
    if (!isMine && from === null && method === "GET" && this.#take(url)) return "untold";
    if (!isMine || shown === null) return "not-mine";
    this.withdraw();
    return URL.parse(url)?.origin === new URL(shown).origin ? "leaves" : "hand-over";
  }

  #take(url: string): boolean {
    const permit = this.#permit;
    if (permit?.url !== bare(url)) return false;
    this.#permit = null;
    return this.#isOf(permit, url);
  }

  #isOf(note: { readonly url: string; readonly at: number } | null, url: string): boolean {
    return note?.url === bare(url) && this.#now() - note.at < PERMIT_TIME;
  }

  #takeResending(): boolean {
    const resends = this.#resends;
    this.#resends = false;
    return resends;
  }
}

export function bare(url: string): string {
  return url.split("#", 1)[0] ?? url;
}

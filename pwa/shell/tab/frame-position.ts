/**
 * `between`: a page of the app's (boot page, notice of a try before) has replaced the document; `left`: and the frame was sent
 * elsewhere since.
 */
type Content = "document" | "notice" | "between" | "left";

/** What the page's frame shows and where it goes, as far as the shell is told. */
export class FramePosition {
  #awaited: string | null = null;
  #silentUrl: string | null = null;
  #content: Content = "document";
  #brokenUrl: string | null = null;

  /** Origin whose slot the frame goes to, until a document is there. */
  get awaited(): string | null {
    return this.#awaited;
  }

  /** URL of the document shown, if the page script cannot run in it. */
  get silentUrl(): string | null {
    return this.#silentUrl;
  }

  /** A page of the app's has replaced the document, and another is to come. */
  get hasLeftDocument(): boolean {
    return this.#content === "between" || this.#content === "left";
  }

  /** It is there, and goes on by itself. */
  get isBetween(): boolean {
    return this.#content === "between";
  }

  /** What the frame has is the notice of a failure. */
  get showsNotice(): boolean {
    return this.#content === "notice";
  }

  /** URL, without a fragment, of the awaited document, if its body broke off before it could say that it is there. */
  get brokenUrl(): string | null {
    return this.#brokenUrl;
  }

  breakOff(url: string): void {
    this.#brokenUrl = url;
  }

  setOut(origin: string): void {
    this.#awaited = origin;
    this.#brokenUrl = null;
    if (this.isBetween) this.#content = "left";
  }

  /** Nothing is awaited any more. */
  giveUp(): void {
    this.#awaited = null;
  }

  leaveDocument(): void {
    this.#content = "between";
  }

  /** The start document is under whatever is awaited. */
  arriveAtStart(): void {
    this.#silentUrl = null;
    this.#content = "document";
  }

  /** In place of a document. */
  arriveAtNotice(): void {
    this.arrive();
    this.#content = "notice";
  }

  /** @param silentUrl if the page script cannot run in the document. */
  arrive(silentUrl: string | null = null): void {
    this.#awaited = null;
    this.#silentUrl = silentUrl;
    this.#content = "document";
  }

  /** A document that tells of itself, and can be told where to go. */
  get hasOwnDocument(): boolean {
    return this.#content === "document" && this.#silentUrl === null;
  }

  /**
   * Whether a document that had begun before is the one that the frame is about to leave: it goes on loading, and its
   * title changes, until the next one is there. That one says first that it loads, unless it is another part of the same.
   *
   * @param shownUrl of the document so far, or "".
   * @param sentUrl where the shell has sent the frame, or null.
   */
  isFormerPage(url: string, shownUrl: string, sentUrl: string | null): boolean {
    if (this.#awaited === null) return false;
    return url === shownUrl || (sentUrl !== null && url !== sentUrl);
  }

  /**
   * Whether a silent document of a top-level slot can be the page: nobody says whether it is in a frame of the page.
   *
   * @param shownUrl of the document so far, or "".
   */
  mayBePage(url: string, shownUrl: string): boolean {
    const { origin } = new URL(url);
    if (this.#awaited !== null) return this.#awaited === origin;
    // By a way that is not told before: the phone's back gesture, or a link in a silent document.
    return this.#silentUrl !== null || URL.parse(shownUrl)?.origin !== origin;
  }
}

/** What the page's frame shows and where it goes, as far as the shell is told. */
export class FramePosition {
  #awaited: string | null = null;
  #silentUrl: string | null = null;
  #hasLeftDocument = false;
  #brokenUrl: string | null = null;

  /** Origin whose slot the frame goes to, until a document is there. */
  get awaited(): string | null {
    return this.#awaited;
  }

  /** Of the document shown, if the page script cannot run in it. */
  get silentUrl(): string | null {
    return this.#silentUrl;
  }

  /** A page of the app's (boot page, notice) has replaced the document. */
  get hasLeftDocument(): boolean {
    return this.#hasLeftDocument;
  }

  /** Of the document that is awaited, without a fragment, if its body broke off before it could say that it is there. */
  get brokenUrl(): string | null {
    return this.#brokenUrl;
  }

  breakOff(url: string): void {
    this.#brokenUrl = url;
  }

  setOut(origin: string): void {
    this.#awaited = origin;
    this.#brokenUrl = null;
  }

  /** Nothing is awaited any more. */
  giveUp(): void {
    this.#awaited = null;
  }

  leaveDocument(): void {
    this.#hasLeftDocument = true;
  }

  /** The start document is under whatever is awaited. */
  arriveAtStart(): void {
    this.#silentUrl = null;
    this.#hasLeftDocument = false;
  }

  /** @param silentUrl if the page script cannot run in the document. */
  arrive(silentUrl: string | null = null): void {
    this.#awaited = null;
    this.#silentUrl = silentUrl;
    this.#hasLeftDocument = false;
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

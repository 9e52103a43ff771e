/** Loads the icon of the page shown, once for each address. */
export class IconLoader {
  readonly #fetchIcon: (url: string, origin: string) => Promise<string | null>;
  #url: string | null = null;

  /** @param fetchIcon gives a data: URL, or null. */
  constructor(fetchIcon: (url: string, origin: string) => Promise<string | null>) {
    this.#fetchIcon = fetchIcon;
  }

  /** Another page is on its way: what loads is not wanted any more, and its icon is loaded even if it is the same. */
  forget(): void {
    this.#url = null;
  }

  /**
   * @param url as the page names it, with its real address.
   * @returns a data: URL, or null where there is none, or no new one, or another is wanted by now.
   */
  async load(url: string, origin: string): Promise<string | null> {
    if (url === this.#url) return null;
    this.#url = url;
    const icon = url.startsWith("data:") ? iconIn(url) : await this.#fetchIcon(url, origin);
    return this.#url === url ? icon : null;
  }
}

/** Characters of an icon that a page gives as a data: URL. Recent and pinned sites keep them. */
const MOST_ICON = 96 * 1024;

/** Pages say `data:,` for none. */
function iconIn(url: string): string | null {
  return url.startsWith("data:image/") && url.length <= MOST_ICON ? url : null;
}

import type { SiteTeller } from "../app/state.ts";
import { LibraryDatabase } from "./library-database.ts";
import { type Undo, type Visit, Visits } from "./visits.ts";

export { type Undo, type Visit, withWords } from "./visits.ts";

/** Pages that the person has visited, on this phone alone. It hears of those that have loaded before its script was there. */
export class Library {
  readonly #app: SiteTeller;
  readonly #visits: Visits;

  /** @param now milliseconds since 1970. */
  constructor(app: SiteTeller, now: () => number) {
    this.#app = app;
    const draw = () => app.draw();
    const database = new LibraryDatabase(() => {
      if (this.#visits.isChanged()) draw();
    });
    this.#visits = new Visits({ database, now, onRead: draw });
    app.hearSites((event) => void this.#visits.hear(event));
  }

  /** The latest first; null until they are read. A change draws the app anew, for whoever looks. */
  get visits(): readonly Visit[] | null {
    return this.#visits.look();
  }

  /** Where nothing leads to a page any more, it goes from the recent sites, too. */
  async forgetVisits(visits: readonly Visit[]): Promise<Undo> {
    const putBack = await this.#visits.forget(visits);
    const left = new Set((await this.#visits.read()).map(({ url }) => url));
    const gone = new Set(visits.map(({ url }) => url).filter((url) => !left.has(url)));
    const undrop = this.#app.dropRecent((url) => gone.has(url));
    return () => {
      putBack();
      undrop();
    };
  }

  /** @returns a data: URL, or null where none is known. */
  iconOf(url: string): string | null {
    const { recent, pinned } = this.#app.state;
    return this.#visits.iconOf(url) ?? [...pinned, ...recent].find((site) => site.url === url)?.icon ?? null;
  }
}

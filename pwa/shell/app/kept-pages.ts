/** The pages that the person has kept, as the chrome shows them. */
import type { KeepOutcome, KeepRefusal, KeptPage } from "../../messages/kept-page.ts";
import type { TunnelClient } from "../link/tunnel-client.ts";

/** What became of the wish to keep a page. `unavailable`: the store cannot be had now. */
export type KeepResult = "kept" | KeepRefusal | "unavailable";

export class KeptPages {
  readonly #tunnel: Pick<TunnelClient, "askStore">;
  #all: readonly KeptPage[] = [];

  constructor(tunnel: Pick<TunnelClient, "askStore">) {
    this.#tunnel = tunnel;
  }

  /** The latest first; as of when somebody last looked. */
  get all(): readonly KeptPage[] {
    return this.#all;
  }

  /** @param url of a page, with its fragment or without. */
  find(url: string): KeptPage | null {
    return this.#all.find((page) => page.url === withoutFragment(url)) ?? null;
  }

  async read(): Promise<void> {
    this.#learn(await this.#tunnel.askStore({ kind: "kept" }));
  }

  /** The page that is shown, as it is now. */
  async keep(url: string, title: string): Promise<KeepResult> {
    const question = { kind: "keep", url: withoutFragment(url), title } as const;
    const outcome = await this.#tunnel.askStore<KeepOutcome>(question);
    if (outcome === null) return "unavailable";
    if ("refused" in outcome) return outcome.refused;
    this.#all = [outcome.page, ...this.#all.filter((page) => page.url !== outcome.page.url)];
    return "kept";
  }

  async unkeep(url: string): Promise<void> {
    this.#learn(await this.#tunnel.askStore({ kind: "unkeep", url: withoutFragment(url) }));
  }

  /** A site is forgotten: what was kept of it is shown no more, however long the edge takes to say that it is done. */
  forget(isOf: (url: string) => boolean): void {
    this.#learn(this.#all.filter(({ url }) => !isOf(url)));
  }

  #learn(pages: readonly KeptPage[] | null): void {
    this.#all = pages ?? this.#all;
  }
}

function withoutFragment(url: string): string {
  return url.split("#", 1)[0] as string;
}

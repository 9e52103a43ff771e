/** A page that the person has kept: it stays on the phone, as it was, until it is kept no longer. */
export interface KeptPage {
  /** Real, without a fragment. */
  readonly url: string;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly keptAt: number;
  /** Bytes of its bodies. */
  readonly bytes: number;
  /** How many of the things that it asked for are not kept with it, since they were not stored. */
  readonly missing: number;
}

/** Why a page cannot be kept: its site forbids it; a form led to it; not all of it came through the store. */
export type KeepRefusal = "forbidden" | "form" | "not-stored";

/** What became of the wish to keep a page. */
export type KeepOutcome = { readonly page: KeptPage } | { readonly refused: KeepRefusal };

export interface FrontPage {
  readonly title: string;
  readonly host: string;
  readonly imageHost: string;
  readonly adHost: string;
  readonly sections: readonly string[];
  readonly stories: number;
  /** Paragraphs below each story's headline. */
  readonly paragraphs: number;
  /** Sizes in bytes of the photographs of the first stories. */
  readonly photos: readonly number[];
  /** Sizes in bytes of promotional GIFs. */
  readonly promotions: readonly number[];
  readonly bullets: number;
  /** Sizes in bytes. */
  readonly banners: readonly number[];
}

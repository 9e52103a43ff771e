/**
 * The reader of the page that is shown, which stands in the page itself (`reader.ts`). The app brings its script, its words and
 * its looks, and keeps the looks that the person chooses there.
 */
import { type FindAnswer, type FindOrder, MESSAGE_TAG, type ReaderLook } from "../../../messages/page-messages.ts";
import type { read } from "../../../slot/page/reader.ts";
import { t } from "../../app/language.ts";

const STORAGE_KEY = "ropeway.reader";
const PAPERS: readonly ReaderLook["paper"][] = ["light", "sepia", "dark"];
const DEFAULT_SIZE = 18;
const [LEAST_SIZE, MOST_SIZE] = [10, 60];

/** The page's script shows them. */
const words = () => ({
  reader: t("Reader"),
  close: t("Leave the reader"),
  smaller: t("Smaller text"),
  larger: t("Larger text"),
  light: t("Light"),
  sepia: t("Sepia"),
  dark: t("Dark"),
});

/** Milliseconds after which a page that has not answered is taken for one without an article. */
const ANSWER_TIME = 3_000;

export interface ReaderOptions {
  /** Path of the script. */
  readonly script: string;
  readonly storage: Pick<Storage, "getItem" | "setItem">;
  /** Whether the app is dark, where the person has chosen no paper. */
  readonly isDark: () => boolean;
}

/** @param isShown else the page is only asked. @returns whether there is an article. */
export async function readPage(frame: HTMLIFrameElement, isShown: boolean, options: ReaderOptions): Promise<boolean> {
  const page = frame.contentWindow;
  if (page === null) return false;
  const document = frame.contentDocument;
  const answered = Promise.withResolvers<boolean>();
  const id = Math.random();
  const hear = ({ told }: Pick<FindAnswer, "told">) => {
    if (told.kind === "article") answered.resolve(told.isThere === true);
    else if (told.kind === "look" && isShown) keepLook(told.look, options.storage);
  };
  // No page learns, or leaves there, anything before the person reads it so.
  const look = isShown ? lookOf(options) : { size: DEFAULT_SIZE, paper: PAPERS[0] ?? "light" };
  const act = { kind: "read", isShown, words: words(), look } as const;
  if (document !== null) {
    // A page without scripts is of the app's own origin: the app reads it in its place.
    const late = (await import(options.script)) as { readonly read: typeof read };
    late.read({ document, tell: hear }, id, { ...act, script: "" });
    return answered.promise;
  }
  const script = await fetch(options.script).then((response) => response.text());
  const listening = new AbortController();
  const { signal } = listening;
  const listen = ({ data, source }: MessageEvent<FindAnswer | null>) => {
    if (source === page && data?.tag === MESSAGE_TAG && data.type === "found" && data.id === id) hear(data);
  };
  window.addEventListener("message", listen, { signal });
  page.postMessage({ tag: MESSAGE_TAG, type: "find", id, act: { ...act, script } } satisfies FindOrder, "*");
  const timer = setTimeout(() => answered.resolve(false), ANSWER_TIME);
  const isThere = await answered.promise;
  clearTimeout(timer);
  // The article tells of its looks for as long as it is shown.
  if (isShown && isThere) frame.addEventListener("load", () => listening.abort(), { once: true });
  else listening.abort();
  return isThere;
}

function lookOf({ storage, isDark }: ReaderOptions): ReaderLook {
  const [size, paper] = (storage.getItem(STORAGE_KEY) ?? "").split(" ");
  return {
    size: sizeOf(Number(size)),
    paper: PAPERS.find((each) => each === paper) ?? (isDark() ? "dark" : "light"),
  };
}

/** A page may say anything. */
function keepLook(look: Partial<Record<keyof ReaderLook, unknown>> | null, storage: ReaderOptions["storage"]): void {
  const paper = PAPERS.find((each) => each === look?.paper);
  if (paper !== undefined) storage.setItem(STORAGE_KEY, `${sizeOf(look?.size)} ${paper}`);
}

function sizeOf(size: unknown): number {
  return Number(size) >= LEAST_SIZE && Number(size) <= MOST_SIZE ? Math.round(Number(size)) : DEFAULT_SIZE;
}

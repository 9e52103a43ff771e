/**
 * `window.name` of the page. In a browser's tab a page of another origin finds it empty, and the way back finds it again
 * (HTML section 7.4.6.1). All pages of the app are in one frame, whose name stays as it is. So the frame has none, and each
 * origin keeps its own, for entries of the history that follow one another in it. Whatever name the frame has when a
 * document begins is another site's, set past this as late as its `unload`.
 */
import { BACK_NAME } from "../documents/boot-target.ts";
import { navigationApi } from "./links/history-key.ts";
import { patchAccessor } from "./patch.ts";

const STORAGE_KEY = "ropeway.window-name";

interface KeptName {
  readonly name: string;
  /** Of entries of the history. */
  readonly keys: readonly string[];
}

/** Those of an origin, the latest last. There may be none to be had, nor room for one. */
function keptNames(): readonly KeptName[] {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]") as readonly KeptName[];
  } catch {
    return [];
  }
}

export function keepWindowName(): void {
  // There the entry has another key than before.
  const isBack = window.name === BACK_NAME;
  window.name = "";
  // Without the Navigation API an origin has one name.
  const keys = navigationApi?.entries().map(({ key }) => key) ?? [""];
  const isHere = (kept: KeptName) => kept.keys.some((key) => keys.includes(key));
  const kept = keptNames();
  let { name = "" } = kept.find(isHere) ?? (isBack ? kept.at(-1) : undefined) ?? {};
  patchAccessor(window, "name", {
    get: () => name,
    set(_native, _self, value) {
      name = String(value);
      const others = keptNames().filter((kept) => !isHere(kept));
      try {
        sessionStorage.setItem(STORAGE_KEY, JSON.stringify([...others, { name, keys }]));
      } catch {}
    },
  });
}

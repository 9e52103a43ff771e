/** Cache modes as the Fetch standard has them: HTTP-network-or-cache fetch, section 4.6. */
import type { CacheMode, HeaderList } from "../http/heads.ts";
import type { CacheRequest } from "./stored-response.ts";

/** Conditions of the page's own: the answer is for the page. `If-Range` is not among them: a store can answer it. */
const CONDITIONS = ["if-modified-since", "if-none-match", "if-unmodified-since", "if-match"];

export function cacheModeOf({ cacheMode, headers }: CacheRequest): CacheMode {
  const isConditional = headers.some(([name]) => CONDITIONS.includes(name));
  return cacheMode === "default" && isConditional ? "no-store" : cacheMode;
}

/** What the mode adds to the request where the page did not set it. */
export function cacheModeFields(request: CacheRequest): HeaderList {
  const mode = cacheModeOf(request);
  const lacks = (name: string) => request.headers.every(([each]) => each !== name);
  if (mode === "no-cache") return lacks("cache-control") ? [["cache-control", "max-age=0"]] : [];
  if (mode !== "no-store" && mode !== "reload") return [];
  const fields: HeaderList = [
    ["pragma", "no-cache"],
    ["cache-control", "no-cache"],
  ];
  return fields.filter(([name]) => lacks(name));
}

/** Block lists in the syntax of Adblock Plus, compiled by `@ghostery/adblocker`: that is evaluated when it is first needed. */
import type { RequestType } from "@ghostery/adblocker";
import type { Destination, RequestHead } from "../../shared/http/heads.ts";

export interface BlockList {
  /** @param url that the request goes to now, by a redirect say. */
  names(head: RequestHead, url: URL): boolean;
}

/** Only the rules about requests are used. What is compiled is checked where it is kept. */
const CONFIG = {
  integrityCheck: false,
  loadCosmeticFilters: false,
  loadCSPFilters: false,
  loadExtendedSelectors: false,
  loadPreprocessors: false,
};

const loadEngine = () => import("@ghostery/adblocker");

/** Which other releases of the engine cannot read. */
export async function compiledFormat(): Promise<number> {
  return (await loadEngine()).ENGINE_VERSION;
}

/**
 * Some hundred milliseconds of computing for the 50,000 rules of EasyPrivacy.
 *
 * @throws Error where the text has no rule.
 */
export async function compile(text: string): Promise<Uint8Array> {
  const { FiltersEngine } = await loadEngine();
  const engine = FiltersEngine.parse(text, CONFIG);
  if (engine.getFilters().networkFilters.length === 0) throw new Error("Cannot read the block list: it has no rule");
  return engine.serialize();
}

/** @throws Error where it is of another format. */
export async function openCompiled(compiled: Uint8Array): Promise<BlockList> {
  const { FiltersEngine, Request } = await loadEngine();
  const engine = FiltersEngine.deserialize(compiled);
  return {
    names(head, url) {
      const sourceUrl = head.origin === null || head.origin === "null" ? head.topLevelOrigin : head.origin;
      return engine.match(Request.fromRawDetails({ url: url.href, sourceUrl, type: typeOf(head) })).match;
    },
  };
}

function typeOf({ destination, mode }: RequestHead): RequestType {
  return destination === "" && mode === "no-cors" ? "ping" : TYPES[destination];
}

const TYPES: Readonly<Record<Destination, RequestType>> = {
  "": "xhr",
  audio: "media",
  audioworklet: "script",
  document: "main_frame",
  embed: "object",
  font: "font",
  frame: "sub_frame",
  iframe: "sub_frame",
  image: "image",
  json: "xhr",
  manifest: "other",
  object: "object",
  paintworklet: "script",
  report: "csp_report",
  script: "script",
  sharedworker: "script",
  style: "stylesheet",
  track: "media",
  video: "media",
  worker: "script",
  xslt: "xhr",
};

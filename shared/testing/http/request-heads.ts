/** Heads of requests as browsers ask. */
import type { RequestHead } from "../../http/heads.ts";

/** What a script asks for, before it is told whose script it is. */
export const fetchHead: Omit<RequestHead, "origin" | "topLevelOrigin"> = {
  method: "GET",
  url: "https://a.example/",
  headers: [],
  destination: "",
  mode: "cors",
  credentials: "same-origin",
  redirect: "follow",
  referrer: "",
};

/** What a script of a page of `https://a.example` asks for. */
export const requestHead: RequestHead = {
  ...fetchHead,
  origin: "https://a.example",
  topLevelOrigin: "https://a.example",
};

/** A typed navigation to `url`. */
export function navigation(url: string): RequestHead {
  return {
    ...requestHead,
    url,
    destination: "document",
    mode: "navigate",
    credentials: "include",
    origin: null,
    topLevelOrigin: new URL(url).origin,
  };
}

/** What a script of a page of `origin` asks for. */
export function scriptFetch(origin: string): Partial<RequestHead> {
  return { destination: "", mode: "cors", credentials: "same-origin", origin, topLevelOrigin: origin };
}

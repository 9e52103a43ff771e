import type { RequestHead } from "../../../../shared/http/heads.ts";

/** Of a page, as the person asks for it. */
export function documentHead(url: string): RequestHead {
  return {
    method: "GET",
    url,
    headers: [],
    destination: "document",
    mode: "navigate",
    credentials: "include",
    redirect: "follow",
    referrer: "",
    origin: null,
    topLevelOrigin: new URL(url).origin,
  };
}

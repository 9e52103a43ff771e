import type { RequestHead } from "../../../shared/http/heads.ts";

/** A message to the edge itself, as a request: no origin hears of it. */
export function edgeRequest(
  message: Pick<RequestHead, "method" | "url" | "headers" | "origin" | "topLevelOrigin">,
): RequestHead {
  return {
    destination: "",
    mode: "same-origin",
    credentials: "omit",
    redirect: "error",
    referrer: "",
    ...message,
  };
}

import type { TabState } from "../../tab/tab-state.ts";

/** How what is visible came from the site that the bar names. `pending`: the person typed the address, nothing came yet. */
export type Connection = "secure" | "plain" | "pending" | "failed";

/** Names of icons. */
export const SIGNS = { secure: "lock", plain: "unlocked", pending: "info", failed: "info" } as const;

export function connectionOf({ url, error, destination }: Pick<TabState, "url" | "error" | "destination">): Connection {
  if (error !== null) return "failed";
  if (destination?.kind === "typed") return "pending";
  return url.startsWith("https:") ? "secure" : "plain";
}

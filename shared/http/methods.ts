/** What is known of a request by its method (RFC 9110 section 9.2). */

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** Whether it asks for no change. */
export function isSafe(method: string): boolean {
  return SAFE.has(method);
}

/** Whether to send it twice has the effect of sending it once. */
export function isIdempotent(method: string): boolean {
  return isSafe(method) || method === "PUT" || method === "DELETE";
}

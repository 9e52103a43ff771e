/** What a response's status says by itself (Fetch section 2.2.3). */

/** Whether there can be no body. 101 ends no exchange. */
export function hasNullBody(method: string, status: number): boolean {
  return method === "HEAD" || status === 101 || status === 204 || status === 205 || status === 304;
}

/** Whether it leads elsewhere, if a Location says where to. */
export function isRedirectStatus(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

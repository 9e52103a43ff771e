/** `Cache-Control` (RFC 9111 section 5.2), of requests and responses. */
import type { HeaderList } from "../http/heads.ts";
import { fieldValue, listMembers } from "./fields.ts";

/** Values by lower-case name, without quotes; null for a directive without one. Of several the first holds. */
export type Directives = ReadonlyMap<string, string | null>;

export function cacheControl(headers: HeaderList): Directives {
  const directives = new Map<string, string | null>();
  for (const member of listMembers(fieldValue(headers, "cache-control") ?? "")) {
    const [, name = "", value] = /^([^=]*)(?:=(.*))?$/s.exec(member) ?? [];
    const key = name.toLowerCase();
    if (!directives.has(key)) directives.set(key, value === undefined ? null : unquoted(value));
  }
  return directives;
}

/** In seconds: null where the directive is missing, 0 where its value is invalid (RFC 9111 section 4.2.1). */
export function secondsOf(directives: Directives, name: string): number | null {
  const value = directives.get(name);
  if (value === undefined) return null;
  return /^\d+$/.test(value ?? "") ? Number(value) : 0;
}

function unquoted(value: string): string {
  const [, quoted] = /^"(.*)"$/s.exec(value) ?? [];
  return quoted === undefined ? value : quoted.replace(/\\(.)/gs, "$1");
}

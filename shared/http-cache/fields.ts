/** Reading fields of heads. */
import type { HeaderList } from "../http/heads.ts";
import { parseHttpDate } from "./http-date.ts";

/** All lines of a field as one value (RFC 9110 section 5.3), or null. */
export function fieldValue(headers: HeaderList, name: string): string | null {
  const lines = headers.filter(([each]) => each === name).map(([, value]) => value);
  return lines.length === 0 ? null : lines.join(", ");
}

/** Members of a list, without the empty ones; commas in quoted strings do not part them (RFC 9110 section 5.6.1). */
export function listMembers(value: string): string[] {
  const members = value.match(/(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g) ?? [];
  return members.map((member) => member.trim()).filter((member) => member !== "");
}

/** Milliseconds since the epoch, or null where the field is missing or no date. */
export function dateField(headers: HeaderList, name: string): number | null {
  const value = fieldValue(headers, name);
  return value === null ? null : parseHttpDate(value);
}

/** Whether two entity tags are the same but for the mark of a weak one (RFC 9110 section 8.8.3.2). */
export function isSameTag(a: string, b: string): boolean {
  return a.replace(/^W\//, "") === b.replace(/^W\//, "");
}

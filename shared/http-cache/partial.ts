/** Parts of a body: RFC 9111 section 3.3. None is stored by itself. */
import { fieldValue } from "./fields.ts";
import type { Answer } from "./stored-response.ts";

/**
 * A 206 that has the whole body, as the 200 that it stands for: media elements ask for all bytes from the first on. Any
 * other response is given back as it is.
 */
export function asWhole<A extends Answer>(response: A): A {
  const { status, headers } = response;
  const match = /^bytes\s+0-(\d{1,15})\/(\d{1,15})$/i.exec(fieldValue(headers, "content-range") ?? "");
  const [, last, total] = match ?? [];
  if (status !== 206 || Number(last) !== Number(total) - 1) return response;
  const others = headers.filter(([name]) => name !== "content-range" && name !== "content-length");
  return { ...response, status: 200, headers: [...others, ["content-length", String(Number(total))]] };
}

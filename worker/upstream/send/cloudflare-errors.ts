/**
 * On Cloudflare a fetch that cannot reach the origin does not throw: it resolves to a response that Cloudflare made,
 * a line of text with its own error number. Pages that Cloudflare shows for sites of its own are HTML and stay.
 */
import { ErrorCode } from "../../../shared/errors.ts";

/** Number in the text → what it means. A number below 1000 is also the response's status; 1016 comes as 530. */
const CODES = new Map<number, ErrorCode>([
  [521, ErrorCode.CONNECTION_REFUSED],
  [522, ErrorCode.UPSTREAM_TIMEOUT],
  [523, ErrorCode.UPSTREAM_FAILED],
  [524, ErrorCode.UPSTREAM_TIMEOUT],
  [525, ErrorCode.TLS_FAILED],
  [526, ErrorCode.TLS_FAILED],
  [1016, ErrorCode.NAME_NOT_RESOLVED],
]);

const LONGEST_TEXT = 64;

/** The failure that a response stands for, or null for one that the origin made. Leaves the response unread. */
export async function cloudflareFailure(response: Response): Promise<ErrorCode | null> {
  const { status, headers } = response;
  if (status < 521 || status > 530 || headers.get("server")?.toLowerCase() !== "cloudflare") return null;
  if (headers.get("content-type")?.startsWith("text/plain") !== true) return null;
  if (Number(headers.get("content-length") ?? 0) > LONGEST_TEXT || response.body === null) return null;

  const reader = response.clone().body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  const first = await reader?.read();
  // Not awaited: one half of a tee is cancelled only when the other is too.
  reader?.cancel().catch(() => {});
  const text = new TextDecoder().decode(first?.value?.subarray(0, LONGEST_TEXT));
  const number = Number(/^error code: (\d{3,4})\s*$/.exec(text)?.[1]);
  return (number === 1016 ? 530 : number) === status ? (CODES.get(number) ?? null) : null;
}

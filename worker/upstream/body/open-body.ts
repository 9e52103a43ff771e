/** The body of an origin's response, decoded; and as it came, where that may be passed on. */
import { CodedBody } from "./coded-body.ts";
import { codingsLeft, codingsOf, rawBody, undoCodings } from "./origin-coding.ts";
import { type ChunkReader, openReader, responseBody } from "./response-body.ts";

export interface BodyPlatform {
  /** Whether its fetch hands bodies out as their origins coded them; else it has undone `gzip` and `br`. */
  readonly handsOutCoded?: boolean;
  /** Whether the reader of response bodies copies each chunk before it asks for the next, as `sendBody` does. */
  readonly copiesChunks?: boolean;
}

export interface OpenedBody {
  readonly body: ChunkReader;
  readonly coded: CodedBody | null;
  readonly cameCoded: boolean;
}

/**
 * @param host of the origin, for messages.
 * @throws RopewayError UPSTREAM_FAILED for codings that cannot be undone.
 */
export async function openBody(response: Response, host: string, platform: BodyPlatform): Promise<OpenedBody> {
  const raw = await rawBody(response);
  const came = codingsOf(response.headers);
  const cameCoded = came.length > 0;
  const codings = platform.handsOutCoded === true ? came : codingsLeft(response.headers);
  const copies = platform.copiesChunks === true;
  if (codings.length === 0) return { body: openReader(raw, copies), coded: null, cameCoded };
  // The platform hands out larger pieces so.
  const origin = openReader(raw, false);
  const coded = isPrepared(response, codings) ? new CodedBody(origin) : null;
  const source = responseBody(coded?.source ?? origin, { translate: (error) => error, onSettled() {} });
  return { body: openReader(undoCodings(source, codings, host), copies), coded, cameCoded };
}

/**
 * Its length was known before it was sent, so it was coded beforehand, by who could take seconds for that. What is coded as it
 * is made is coded quicker than the edge does.
 */
function isPrepared({ headers }: Response, codings: readonly string[]): boolean {
  return codings.length === 1 && codings[0] === "br" && /^[1-9]\d*$/.test(headers.get("content-length") ?? "");
}

/** Lets in, or not, what a `no-cors` request got of another origin: whole responses, and ranges of audio and video. */
import type { RequestHead } from "../../../shared/http/heads.ts";
import { type ChunkReader, decideOnOpening } from "../body/response-body.ts";
import type { KnownMedia } from "./known-media.ts";
import { type BlockableHead, isRangeable, responseJudge, type Verdict } from "./response-blocking.ts";

export interface OpaqueResponse {
  readonly head: RequestHead;
  /** URL of the response. */
  readonly url: URL;
  readonly response: BlockableHead;
  /** The tunnel goes on with what it was given before. */
  readonly isContinuation: boolean;
  readonly known: KnownMedia;
  /** Asks for the first bytes of the same URL; null where those are not to be had. */
  readonly fetchStart: () => Promise<{ readonly response: BlockableHead; readonly body: ChunkReader } | null>;
}

export interface Admission {
  readonly verdict: Verdict;
  /** From its first byte on. */
  readonly body: ChunkReader;
}

/** Takes ownership of `body`. */
export async function admit(opaque: OpaqueResponse, body: ChunkReader): Promise<Admission> {
  const { head, url, response, isContinuation, known } = opaque;
  const isPart = response.status === 206;
  if (isPart && isContinuation) return { verdict: "allowed", body };
  const first = isPart ? firstByte(response) : 0;
  const mayBePart = first !== null && (head.destination === "audio" || head.destination === "video");
  if (isPart && !mayBePart) return { verdict: "blocked", body };
  if (first !== 0) return { verdict: (await continuesMedia(opaque)) ? "allowed" : "blocked", body };
  const opened = await decideOnOpening(body, responseJudge(response));
  const verdict = opened.decision ?? "blocked";
  if (verdict === "media") known.add(head, url);
  return { verdict: isPart && verdict === "public" ? "blocked" : verdict, body: opened.body };
}

async function continuesMedia({ head, url, response, known, fetchStart }: OpaqueResponse): Promise<boolean> {
  if (!isRangeable(response)) return false;
  if (known.has(head, url)) return true;
  const start = await fetchStart();
  if (start === null) return false;
  const { decision, body } = await decideOnOpening(start.body, responseJudge(start.response));
  await body.cancel();
  if (decision === "media") known.add(head, url);
  return decision === "media";
}

/** @returns null where the field does not say. */
export function firstByte({ headers }: BlockableHead): number | null {
  const [, first] = /^\s*bytes\s+(\d{1,15})-/i.exec(headers.get("content-range") ?? "") ?? [];
  return first === undefined ? null : Number(first);
}

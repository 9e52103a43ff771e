/** HTTP Archive 1.2, as far as the converter reads it. Fields that begin with "_" are extensions of Chromium's tools. */

export interface HarField {
  readonly name: string;
  readonly value: string;
}

export interface HarEntry {
  /** ISO 8601. */
  readonly startedDateTime: string;
  /** Milliseconds in all; -1 for unknown. */
  readonly time: number;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly HarField[];
    /** -1 for unknown, as in all sizes. */
    readonly headersSize: number;
    readonly bodySize: number;
    readonly postData?: { readonly text?: string };
  };
  readonly response: {
    /** 0 or -1 when there was no answer. */
    readonly status: number;
    readonly statusText: string;
    readonly headers: readonly HarField[];
    readonly redirectURL?: string;
    readonly headersSize: number;
    readonly bodySize: number;
    readonly content: { readonly size: number; readonly mimeType?: string };
    /** Head and body as transferred. */
    readonly _transferSize?: number;
  };
  readonly _fromCache?: string | null;
  readonly _initiator?: HarInitiator;
}

export interface HarInitiator {
  readonly type: string;
  readonly url?: string;
  readonly stack?: HarStack;
}

export interface HarStack {
  readonly callFrames: readonly { readonly url: string }[];
  readonly parent?: HarStack;
}

/** @throws naming the file and the entry when it is no HAR. */
export function readHar(text: string, file: string): readonly HarEntry[] {
  const fail = (reason: string): never => {
    throw new Error(`Cannot read ${file}: ${reason}`);
  };
  let har: { log?: { entries?: unknown } } | null = null;
  try {
    har = JSON.parse(text);
  } catch (error) {
    fail(`it is not JSON (${String(error)})`);
  }
  const entries = har?.log?.entries;
  if (!Array.isArray(entries)) return fail("it has no log.entries");
  for (const [position, entry] of (entries as Partial<HarEntry>[]).entries()) {
    const fault = entryFault(entry);
    if (fault !== null) fail(`entry ${position} ${fault}`);
  }
  return entries as HarEntry[];
}

function entryFault({ startedDateTime, time, request, response }: Partial<HarEntry>): string | null {
  if (Number.isNaN(Date.parse(startedDateTime ?? ""))) return "has no startedDateTime that is a date";
  if (typeof time !== "number") return "has no time";
  if (typeof request?.url !== "string" || typeof request.method !== "string") return "has no request";
  if (typeof response?.status !== "number") return "has no response";
  if (!Array.isArray(request.headers) || !Array.isArray(response.headers)) return "has no headers";
  return null;
}

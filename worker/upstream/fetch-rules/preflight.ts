/** CORS preflights (Fetch section 4.9) and the memory of their results. */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import { checkCors, denied, isSafelistedMethod } from "./cors.ts";

/** Milliseconds: longest Access-Control-Max-Age that is honoured; Chromium caps at two hours. */
export const PREFLIGHT_AGE = 7_200_000;

/** Preflight results kept in memory, oldest dropped first. */
export const PREFLIGHT_ENTRIES = 512;

export interface PreflightRequest {
  /** Site whose page asks; results are not shared between partitions. */
  readonly partition: string;
  readonly url: URL;
  /** The request's origin as serialized on the wire. */
  readonly origin: string;
  readonly method: string;
  /** Lower-case, sorted, each once. */
  readonly unsafeNames: readonly string[];
  readonly withCredentials: boolean;
}

/** True if Fetch wants a preflight before a cross-origin request in mode cors. */
export function needsPreflight(method: string, unsafeNames: readonly string[]): boolean {
  return !isSafelistedMethod(method) || unsafeNames.length > 0;
}

/** What a preflight adds to the fields that every request has. */
export function preflightFields(request: PreflightRequest): Record<string, string> {
  const names = request.unsafeNames.join(",");
  return {
    accept: "*/*",
    "access-control-request-method": request.method,
    ...(names === "" ? {} : { "access-control-request-headers": names }),
  };
}

/** Bounded, in memory. An entry is good for exactly the method and the names that were asked for. */
export class PreflightCache {
  readonly #now: () => number;
  readonly #expiry = new BoundedMap<string, number>(PREFLIGHT_ENTRIES);

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  allows(request: PreflightRequest): boolean {
    const key = keyOf(request);
    const expiry = this.#expiry.get(key);
    if (expiry === undefined) return false;
    if (expiry > this.#now()) return true;
    this.#expiry.delete(key);
    return false;
  }

  /**
   * Judges the response to a preflight and remembers that it allowed the request.
   * @throws RopewayError CORS_DENIED
   */
  accept(request: PreflightRequest, response: Response): void {
    const { url, origin, method, unsafeNames, withCredentials } = request;
    const { headers } = response;
    checkCors(headers, url, origin, withCredentials);
    if (!response.ok) throw denied(url, `it answered the preflight with status ${response.status}`);

    const methods = new Set(listOf(headers.get("access-control-allow-methods")));
    const names = new Set(listOf(headers.get("access-control-allow-headers")).map((name) => name.toLowerCase()));
    const allowsAll = (list: ReadonlySet<string>) => !withCredentials && list.has("*");
    if (!isSafelistedMethod(method) && !methods.has(method) && !allowsAll(methods)) {
      throw denied(url, `it does not allow the method ${method}`);
    }
    for (const name of unsafeNames) {
      // Authorization is the one name that "*" does not stand for (CORS non-wildcard request-header name).
      if (!names.has(name) && (name === "authorization" || !allowsAll(names))) {
        throw denied(url, `it does not allow the field ${name}`);
      }
    }
    this.#expiry.set(keyOf(request), this.#now() + maxAge(headers.get("access-control-max-age")));
  }
}

/** Milliseconds; Fetch's default is 5 s. */
function maxAge(field: string | null): number {
  const seconds = field !== null && /^\d{1,9}$/.test(field.trim()) ? Number(field) : 5;
  return Math.min(seconds * 1000, PREFLIGHT_AGE);
}

function listOf(field: string | null): string[] {
  return (field ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function keyOf({ partition, url, origin, method, unsafeNames, withCredentials }: PreflightRequest): string {
  return [partition, origin, url.href, withCredentials, method, unsafeNames.join(",")].join("\n");
}

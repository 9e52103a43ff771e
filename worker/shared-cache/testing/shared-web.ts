/** Phones that share a cache, before origins of handlers. */
import { setTimer } from "../../../shared/clock.ts";
import { Room } from "../../../shared/fair-shares.ts";
import { KEPT_BYTES, type SharedCache, SharedResponses } from "../shared-responses.ts";

type Handler = (request: Request) => Response | Promise<Response>;

/** As the platforms': what comes out of it is another response each time. */
export class MapCache implements SharedCache {
  readonly entries = new Map<string, { readonly headers: Headers; readonly body: ArrayBuffer }>();

  async match(key: string): Promise<Response | undefined> {
    const entry = this.entries.get(key);
    return entry && new Response(entry.body.slice(), { headers: entry.headers });
  }

  async put(key: string, response: Response): Promise<void> {
    this.entries.set(key, { headers: response.headers, body: await response.arrayBuffer() });
  }
}

export function sharedWeb(handler: Handler, cache: SharedCache = new MapCache()) {
  const asked: Request[] = [];
  const clock = { now: Date.parse("2026-05-01T12:00:00Z") };
  const now = () => clock.now;
  const shared = new SharedResponses({ cache, room: new Room(KEPT_BYTES, now), now, setTimer });
  const newFetch = () =>
    shared.through(async (request) => {
      asked.push(request);
      return handler(request);
    });
  const newPhone = () => {
    const fetchShared = newFetch();
    return (url: string, fields: Record<string, string> = {}, init: RequestInit = {}) =>
      fetchShared(new Request(url, { headers: fields, ...init }));
  };
  return {
    asked,
    cache,
    /** That of another phone, as its upstream has it. */
    newFetch,
    /** Seconds. */
    pass: (seconds: number) => {
      clock.now += seconds * 1000;
    },
    date: () => new Date(clock.now).toUTCString(),
    /** A request of one phone, with no field but these. */
    ask: newPhone(),
    /** The same of another phone. */
    askElsewhere: newPhone(),
  };
}

/** Lets all go on that waits for nothing but promises and streams. */
export const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

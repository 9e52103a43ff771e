/** The upstream on workerd: its fetch behind the gate, the loopback, its sockets for diagnosis, the object's storage. */

import { connect } from "cloudflare:sockets";
import { epochClock, setTimer } from "../../shared/clock.ts";
import { createEdgeBackend, type EdgeBackend } from "../delivery/edge-handler.ts";
import { EdgeSettings } from "../front/edge-settings.ts";
import { lazyCache, type SharedCache, SharedResponses } from "../shared-cache/shared-responses.ts";
import type { CookieJarStore } from "../upstream/cookie-jar.ts";
import { fetchLeniently } from "../upstream/lenient-http.ts";
import { OfflineCheck, readKnownHosts } from "../upstream/send.ts";
import { createUpstreamParts } from "../upstream/upstream.ts";
import {
  AS_CODED,
  connectByTcp,
  createExplainFailure,
  createGatedFetch,
  fetchUncached,
  HeaderGate,
  reachByTcp,
  withByteFields,
} from "./fetch-workerd.ts";
import { createOpenSocket } from "./origin-socket-workerd.ts";
import { StateDisk } from "./state-disk.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** Entrypoints of this worker as `ctx.exports` gives them (compatibility flag enable_ctx_exports). */
interface LoopbackExports {
  readonly UpstreamFetcher: Fetcher;
  readonly OriginDialer: Fetcher;
}

export function createWorkerdUpstream(ctx: DurableObjectState, env: WorkerEnvironment): EdgeBackend {
  const { UpstreamFetcher, OriginDialer } = ctx.exports as unknown as LoopbackExports;
  const loopback = (request: Request) => UpstreamFetcher.fetch(request, AS_CODED);
  const lenient = (request: Request) => fetchLeniently(request, connectByTcp(connect));
  const asking = withByteFields(createGatedFetch(fetchUncached, loopback, new HeaderGate()), lenient);
  const { sharesCache, destinations } = new EdgeSettings(env);
  const parts = createUpstreamParts({
    fetch: sharesCache ? new SharedResponses({ cache: sharedCache(env), ...epochClock }).through(asking) : asking,
    fetchLeniently: lenient,
    openSocket: createOpenSocket({ dial: (request) => OriginDialer.fetch(request), fetch: loopback }),
    ...destinations,
    cookieJarStore: objectStore(ctx.storage, new StateDisk(env)),
    ...epochClock,
    handsOutCoded: true,
    copiesChunks: true,
    explainFailure: createExplainFailure({ connect, setTimer }),
    offlineCheck: new OfflineCheck({
      hosts: readKnownHosts(env.ROPEWAY_KNOWN_HOSTS),
      reach: (host) => reachByTcp({ connect, setTimer }, host),
      ...epochClock,
    }),
    withFixedLength: (stream, length) => stream.pipeThrough(new FixedLengthStream(length)),
  });
  return createEdgeBackend(parts);
}

/**
 * Shared by all objects in a data centre; on a local workerd, by all in the process. Responses from private
 * addresses are for nobody else but those who may ask there.
 */
function sharedCache({ ROPEWAY_ALLOW_PRIVATE }: WorkerEnvironment): SharedCache {
  return lazyCache(() => caches.open(ROPEWAY_ALLOW_PRIVATE === "1" ? "ropeway-shared-private" : "ropeway-shared"));
}

function objectStore(storage: DurableObjectStorage, disk: StateDisk): CookieJarStore {
  return {
    get: (key) => storage.get(key),
    async put(key, value) {
      await disk.requireRoom();
      await storage.put(key, value);
    },
    async delete(key) {
      await disk.requireRoom();
      await storage.delete(key);
    },
    // One value after the other: all of them may not fit into memory.
    list: async (prefix) => {
      const lengths = new Map<string, number>();
      for (const [key, value] of storage.kv.list<string>({ prefix })) lengths.set(key, value.length);
      return lengths;
    },
  };
}

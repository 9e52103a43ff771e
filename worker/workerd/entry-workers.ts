/** Entry for Cloudflare Workers: binds the router to the platform's assets, Durable Objects and loopback. */
import { connect } from "cloudflare:sockets";
import { WorkerEntrypoint } from "cloudflare:workers";
import { createRouter } from "../front/router.ts";
import { DirectoryObject, directoryOf } from "./directory-object.ts";
import { connectByTcp, fetchUncached } from "./fetch-workerd.ts";
import { askObject } from "./object-state.ts";
import { answerDial } from "./origin-socket-workerd.ts";
import { peerAddress } from "./peer-address.ts";
import { TunnelObject } from "./tunnel-object.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

const app = createRouter<WorkerEnvironment>({
  serveAsset: (path, env, request) => env.ASSETS.fetch(new Request(new URL(path, request.url), request)),
  askPhone: askObject,
  pair: (request, env) => directoryOf(env).pair(request),
  peerAddress,
});

/**
 * The loopback: fetches in an invocation of its own, which may have its own six connections waiting for headers.
 * Reachable from this worker only.
 */
export class UpstreamFetcher extends WorkerEntrypoint<WorkerEnvironment> {
  override fetch(request: Request): Promise<Response> {
    return fetchUncached(request);
  }
}

/** The same for connections of pages' sockets. */
export class OriginDialer extends WorkerEntrypoint<WorkerEnvironment> {
  override fetch(request: Request): Promise<Response> {
    return answerDial(connectByTcp(connect), request);
  }
}

export { DirectoryObject, TunnelObject };
export default app;

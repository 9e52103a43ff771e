/** A phone's Durable Object, as the worker asks it. */
import { askWithState } from "./object-state.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** @throws RopewayError as `askWithState`. */
export function askObject(deviceId: string, env: WorkerEnvironment, request: Request): Promise<Response> {
  const id = env.TUNNEL.idFromName(deviceId);
  return askWithState(() => env.TUNNEL.get(id).fetch(request), {
    env,
    directory: env.TUNNEL_DIRECTORY,
    id,
    holds: "this phone's cookies",
    subject: "what it keeps for this phone",
    // Phones ask again too, so whatever rides in the request is safe to repeat; a body was read.
    isRepeatable: request.body === null,
  });
}

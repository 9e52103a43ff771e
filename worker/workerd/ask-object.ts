/** A phone's Durable Object, and what is said where it does not start. */
import { StateDisk } from "./state-disk.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/**
 * The answer of the device's object. Where a local edge cannot open the state of it: 503 with a sentence, and its log
 * names the file.
 */
export async function askObject(deviceId: string, env: WorkerEnvironment, request: Request): Promise<Response> {
  const id = env.TUNNEL.idFromName(deviceId);
  const ask = () => env.TUNNEL.get(id).fetch(request);
  try {
    return await ask();
  } catch (error) {
    if (env.STATE_DISK === undefined || !isOfState(error)) throw error;
  }
  const disk = new StateDisk(env);
  if (!(await disk.hasRoom())) await disk.releaseReserve();
  // Phones ask again too, so whatever rides in the request is safe to repeat; a body was read.
  const second = request.body === null ? await ask().catch(() => null) : null;
  if (second !== null) return second;
  const isFull = !(await disk.hasRoom());
  console.error(
    isFull
      ? `Cannot open a phone's state in ${env.TUNNEL_DIRECTORY}: the disk is full; free some room there`
      : `Cannot open ${env.TUNNEL_DIRECTORY}/${id}.sqlite: it is damaged or may not be used; move it away, with those ` +
          "that end in -wal and -shm, to begin without this phone's cookies",
  );
  const reason = isFull
    ? "the disk of the edge is full; free some room there"
    : "the edge cannot read what it keeps for this phone; its log names the file";
  return Response.json({ error: `Cannot open a tunnel: ${reason}` }, { status: 503 });
}

/** The platform tells no reason of its own failures; what SQL meets has SQLite's name for it. */
function isOfState(error: unknown): boolean {
  return error instanceof Error && /^internal error|SQLITE_/.test(error.message);
}

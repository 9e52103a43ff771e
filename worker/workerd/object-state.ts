/** State that a phone's Durable Object keeps, and errors where a local edge cannot open it. */

import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import type { SentLogStore } from "../delivery/edge-handler.ts";
import type { RecordStore } from "../devices/record-store.ts";
import { StateDisk } from "./state-disk.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** Asks a phone's object. @throws RopewayError as `askWithState`. */
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

export interface ObjectState {
  readonly env: WorkerEnvironment;
  /** Directory of the object's class, where a local workerd keeps it. */
  readonly directory: string | undefined;
  readonly id: DurableObjectId;
  /** Content of the file, for the log: "this phone's cookies". */
  readonly holds: string;
  /** For whoever asks: "what it keeps for this phone". */
  readonly subject: string;
  /** Whether the same may be asked once more. */
  readonly isRepeatable: boolean;
}

/**
 * @param ask the object.
 * @throws RopewayError where its state cannot be opened; the log names the file, and says what to do.
 */
export async function askWithState<Answer>(ask: () => Promise<Answer>, state: ObjectState): Promise<Answer> {
  const { env, directory, id, holds, subject, isRepeatable } = state;
  try {
    return await ask();
  } catch (error) {
    if (env.STATE_DISK === undefined || !isOfState(error)) throw error;
  }
  const disk = new StateDisk(env);
  if (!(await disk.hasRoom())) await disk.releaseReserve();
  const second = isRepeatable ? await ask().catch(() => null) : null;
  if (second !== null) return second;
  const isFull = !(await disk.hasRoom());
  console.error(
    isFull
      ? `Cannot open what is kept in ${directory}: the disk is full; free some room there`
      : `Cannot open ${directory}/${id}.sqlite: it is damaged or may not be used; move it away, with those that end ` +
          `in -wal and -shm, to begin without ${holds}`,
  );
  const reason = isFull
    ? "the disk of the edge is full; free some room there"
    : `the edge cannot read ${subject}; its log names the file`;
  throw new RopewayError(ErrorCode.INTERNAL_ERROR, "stream", "library", `Cannot answer: ${reason}`);
}

/** The platform tells no reason of its own failures; what SQL meets has SQLite's name for it. */
function isOfState(error: unknown): boolean {
  return error instanceof Error && /^internal error|SQLITE_/.test(error.message);
}

const PREFIX = "record/";

/** Records in a Durable Object's own database. What finds no room on a local disk waits in memory for the next change. */
export function objectRecordStore({ kv }: DurableObjectStorage, disk: StateDisk): RecordStore {
  /** By key. */
  const waiting = new Map<string, unknown>();
  const read = <Value>(key: string) => (waiting.has(key) ? waiting.get(key) : kv.get(key)) as Value | undefined;

  function write(key: string, value: unknown): void {
    if (value === undefined) kv.delete(key);
    else kv.put(key, value);
  }

  return {
    get: async <Value>(name: string) => read<Value>(PREFIX + name),
    async list<Value>(prefix: string) {
      const stored = new Map<string, unknown>(kv.list({ prefix: PREFIX + prefix }));
      for (const [key, value] of waiting) if (key.startsWith(PREFIX + prefix)) stored.set(key, value);
      return [...stored.values()].filter((value) => value !== undefined) as Value[];
    },
    async update<Value>(name: string, change: (former: Value | undefined) => Value | undefined) {
      const hasRoom = await disk.hasRoom();
      const key = PREFIX + name;
      waiting.set(key, change(read<Value>(key)));
      if (!hasRoom) return;
      for (const [each, value] of waiting) write(each, value);
      waiting.clear();
    },
  };
}

/** The log in the Durable Object's own database: it lives as long as the object, through evictions and deploys. */
export function objectSentLogStore(storage: DurableObjectStorage, disk: StateDisk): SentLogStore {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS sent (id TEXT PRIMARY KEY, time INTEGER NOT NULL) WITHOUT ROWID");
  sql.exec("CREATE INDEX IF NOT EXISTS sent_time ON sent (time)");
  sql.exec("CREATE TABLE IF NOT EXISTS sent_coverage (since INTEGER NOT NULL)");
  sql.exec("INSERT INTO sent_coverage SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM sent_coverage)");
  const number = (query: string, ...values: SqlStorageValue[]): number =>
    Number(sql.exec<{ value: number | null }>(query, ...values).one().value ?? 0);
  return {
    coversFrom: async () => number("SELECT since AS value FROM sent_coverage"),
    has: async (id) => number("SELECT count(*) AS value FROM sent WHERE id = ?", id) > 0,
    async add(id, time) {
      await disk.requireRoom();
      const { rowsWritten } = sql.exec("INSERT OR IGNORE INTO sent (id, time) VALUES (?, ?)", id, time);
      if (rowsWritten === 0) return false;
      await storage.sync();
      return true;
    },
    async prune(time, count) {
      if (!(await disk.hasRoom())) return;
      sql.exec("DELETE FROM sent WHERE time < ?", time);
      const excess = number("SELECT count(*) AS value FROM sent") - count;
      if (excess <= 0) return;
      const dropped = number("SELECT time AS value FROM sent ORDER BY time LIMIT 1 OFFSET ?", excess - 1);
      sql.exec("DELETE FROM sent WHERE time <= ?", dropped);
      sql.exec("UPDATE sent_coverage SET since = ?", dropped);
    },
  };
}

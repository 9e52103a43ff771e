/** What is said where a local edge cannot open the state of one of its objects. */
import { ErrorCode, RopewayError } from "../../shared/errors.ts";
import { StateDisk } from "./state-disk.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

export interface ObjectState {
  readonly env: WorkerEnvironment;
  /** Directory of the object's class, where a local workerd keeps it. */
  readonly directory: string | undefined;
  readonly id: DurableObjectId;
  /** What the file holds, for the log: "this phone's cookies". */
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

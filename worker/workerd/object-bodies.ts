/** Sealed bodies in the Durable Object's own database: a row each, which SQLite there takes up to 2 MB of. */
import { KEPT_FOR, type SealedBodyStore } from "../delivery/dictionary/sealed-body-store.ts";
import type { StateDisk } from "./state-disk.ts";

type Storage = Pick<DurableObjectStorage, "sql" | "getAlarm" | "setAlarm">;

export interface ObjectBodyStore extends SealedBodyStore {
  /** The object's alarm went off: what is older than KEPT_FOR goes, though its phone never comes back. */
  expire(): Promise<void>;
}

/** @param now milliseconds since the epoch. */
export function objectBodyStore(storage: Storage, disk: StateDisk, now: () => number): ObjectBodyStore {
  const { sql } = storage;
  // What was sealed without its address does not open any more.
  sql.exec("DROP TABLE IF EXISTS bodies");
  // Numbers ascend: the least is that of the body put longest ago.
  sql.exec(
    "CREATE TABLE IF NOT EXISTS sealed (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, bytes BLOB NOT NULL, time INTEGER NOT NULL)",
  );
  const bytesOfAll = (): number =>
    Number(sql.exec<{ value: number | null }>("SELECT sum(length(bytes)) AS value FROM sealed").one().value ?? 0);
  let total: number | null = null;
  return {
    async get(id) {
      const [row] = sql
        .exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM sealed WHERE id = ? AND time > ?", id, now() - KEPT_FOR)
        .toArray();
      return row === undefined ? null : new Uint8Array(row.bytes);
    },
    async put(id, sealed, most) {
      if (!(await disk.hasRoom(sealed.length))) return;
      sql.exec("INSERT OR REPLACE INTO sealed (id, bytes, time) VALUES (?, ?, ?)", id, sealed, now());
      total = (total ?? bytesOfAll() - sealed.length) + sealed.length;
      while (total > most) {
        const [oldest] = sql
          .exec<{ number: number; size: number }>(
            "SELECT number, length(bytes) AS size FROM sealed ORDER BY number LIMIT 1",
          )
          .toArray();
        if (oldest === undefined) break;
        sql.exec("DELETE FROM sealed WHERE number = ?", oldest.number);
        total -= oldest.size;
      }
      if ((await storage.getAlarm()) === null) await storage.setAlarm(now() + KEPT_FOR);
    },
    async delete(id) {
      if (!(await disk.hasRoom())) return;
      const [gone] = sql
        .exec<{ size: number }>("DELETE FROM sealed WHERE id = ? RETURNING length(bytes) AS size", id)
        .toArray();
      // To count all anew would read all rows.
      if (total !== null) total -= gone?.size ?? 0;
    },
    async clear() {
      await disk.requireRoom();
      sql.exec("DELETE FROM sealed");
      total = null;
    },
    async expire() {
      // What throws is tried again by the platform.
      await disk.requireRoom();
      sql.exec("DELETE FROM sealed WHERE time <= ?", now() - KEPT_FOR);
      total = null;
      const { oldest } = sql.exec<{ oldest: number | null }>("SELECT min(time) AS oldest FROM sealed").one();
      if (oldest !== null) await storage.setAlarm(oldest + KEPT_FOR);
    },
  };
}

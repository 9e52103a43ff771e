/** Sealed bodies in the Durable Object's own database: a row each, which SQLite there takes up to 2 MB of. */
import type { SealedBodyStore } from "../delivery/dictionary/sealed-body-store.ts";
import type { StateDisk } from "./state-disk.ts";

export function objectBodyStore({ sql }: DurableObjectStorage, disk: StateDisk): SealedBodyStore {
  // Numbers ascend: the least is that of the body put longest ago.
  sql.exec(
    "CREATE TABLE IF NOT EXISTS bodies (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, bytes BLOB NOT NULL)",
  );
  const bytesOfAll = (): number =>
    Number(sql.exec<{ value: number | null }>("SELECT sum(length(bytes)) AS value FROM bodies").one().value ?? 0);
  let total: number | null = null;
  return {
    async get(id) {
      const [row] = sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM bodies WHERE id = ?", id).toArray();
      return row === undefined ? null : new Uint8Array(row.bytes);
    },
    async put(id, sealed, most) {
      if (!(await disk.hasRoom(sealed.length))) return;
      sql.exec("INSERT OR REPLACE INTO bodies (id, bytes) VALUES (?, ?)", id, sealed);
      total = (total ?? bytesOfAll() - sealed.length) + sealed.length;
      while (total > most) {
        const [oldest] = sql
          .exec<{ number: number; size: number }>(
            "SELECT number, length(bytes) AS size FROM bodies ORDER BY number LIMIT 1",
          )
          .toArray();
        if (oldest === undefined) break;
        sql.exec("DELETE FROM bodies WHERE number = ?", oldest.number);
        total -= oldest.size;
      }
    },
    async delete(id) {
      if (!(await disk.hasRoom())) return;
      const [gone] = sql
        .exec<{ size: number }>("DELETE FROM bodies WHERE id = ? RETURNING length(bytes) AS size", id)
        .toArray();
      // To count all anew would read all rows.
      if (total !== null) total -= gone?.size ?? 0;
    },
    async clear() {
      await disk.requireRoom();
      sql.exec("DELETE FROM bodies");
      total = null;
    },
  };
}

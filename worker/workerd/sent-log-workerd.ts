/** The log in the Durable Object's own database: it lives as long as the object, through evictions and deploys. */
import type { SentLogStore } from "../delivery/edge-handler.ts";
import type { StateDisk } from "./state-disk.ts";

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

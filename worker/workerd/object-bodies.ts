/** Sealed bodies in the Durable Object's own database: a row each, which SQLite there takes up to 2 MB of. */
import { FairShares, type Holding } from "../../shared/fair-shares.ts";
import { KEPT_FOR, type SealedBodyStore } from "../delivery/dictionaries.ts";
import type { StateDisk } from "./state-disk.ts";

type Storage = Pick<DurableObjectStorage, "sql" | "getAlarm" | "setAlarm">;

export interface ObjectBodyStore extends SealedBodyStore {
  /** The object's alarm went off: what is older than KEPT_FOR goes, though its phone never comes back. */
  expire(): Promise<void>;
}

function openTable(sql: SqlStorage): void {
  // Numbers ascend: the least is that of the body put longest ago.
  sql.exec(
    "CREATE TABLE IF NOT EXISTS sealed (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, bytes BLOB NOT NULL, time INTEGER NOT NULL, site TEXT NOT NULL)",
  );
}

/** Bytes of each site in the table. To count all anew would read all rows. */
class UseBySite {
  readonly #sql: SqlStorage;
  #holdings: Map<string, Holding> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Counts all: before the first row is added. */
  know(): void {
    const rows = () =>
      this.#sql.exec<{ site: string; amount: number; last: number }>(
        "SELECT site, sum(length(bytes)) AS amount, max(number) AS last FROM sealed GROUP BY site",
      );
    this.#holdings ??= new Map(
      rows()
        .toArray()
        .map(({ site, amount, last }) => [site, { amount, usedAt: last }]),
    );
  }

  forget(): void {
    this.#holdings = null;
  }

  /** @param number of the row that was added. */
  account(site: string, bytes: number, number?: number): void {
    const known = this.#holdings?.get(site) ?? { amount: 0, usedAt: 0 };
    this.#holdings?.set(site, { amount: known.amount + bytes, usedAt: number ?? known.usedAt });
  }

  makeRoom(most: number): void {
    const holdings = this.#holdings ?? new Map<string, Holding>();
    let over = [...holdings.values()].reduce((sum, { amount }) => sum + amount, 0) - most;
    if (over <= 0) return;
    const shares = new FairShares(most, holdings);
    for (let site = shares.giver(); over > 0 && site !== undefined; site = shares.giver()) {
      const size = this.#dropOldest(site);
      if (size === null) shares.excuse(site);
      else {
        this.account(site, -size);
        shares.gave(site, size);
        over -= size;
      }
    }
  }

  /** @returns its size. */
  #dropOldest(site: string): number | null {
    const [gone] = this.#sql
      .exec<{ size: number }>(
        "DELETE FROM sealed WHERE number = (SELECT min(number) FROM sealed WHERE site = ?) RETURNING length(bytes) AS size",
        site,
      )
      .toArray();
    return gone?.size ?? null;
  }
}

/** @param now milliseconds since the epoch. */
export function objectBodyStore(storage: Storage, disk: StateDisk, now: () => number): ObjectBodyStore {
  const { sql } = storage;
  openTable(sql);
  const use = new UseBySite(sql);
  return {
    async get(id) {
      const [row] = sql
        .exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM sealed WHERE id = ? AND time > ?", id, now() - KEPT_FOR)
        .toArray();
      return row === undefined ? null : new Uint8Array(row.bytes);
    },
    async put(id, sealed, { site, most }) {
      if (!(await disk.hasRoom(sealed.length))) return;
      use.know();
      const { number } = sql
        .exec<{ number: number }>(
          "INSERT OR REPLACE INTO sealed (id, bytes, time, site) VALUES (?, ?, ?, ?) RETURNING number",
          id,
          sealed,
          now(),
          site,
        )
        .one();
      use.account(site, sealed.length, number);
      use.makeRoom(most);
      if ((await storage.getAlarm()) === null) await storage.setAlarm(now() + KEPT_FOR);
    },
    async delete(id) {
      if (!(await disk.hasRoom())) return;
      const [gone] = sql
        .exec<{ size: number; site: string }>(
          "DELETE FROM sealed WHERE id = ? RETURNING length(bytes) AS size, site",
          id,
        )
        .toArray();
      if (gone !== undefined) use.account(gone.site, -gone.size);
    },
    async clear() {
      await disk.requireRoom();
      sql.exec("DELETE FROM sealed");
      use.forget();
    },
    async expire() {
      // The platform calls again after an error.
      await disk.requireRoom();
      sql.exec("DELETE FROM sealed WHERE time <= ?", now() - KEPT_FOR);
      use.forget();
      const { oldest } = sql.exec<{ oldest: number | null }>("SELECT min(time) AS oldest FROM sealed").one();
      if (oldest !== null) await storage.setAlarm(oldest + KEPT_FOR);
    },
  };
}

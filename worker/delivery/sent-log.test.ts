import { describe, expect, it } from "vitest";
import * as limits from "../../shared/limits.ts";
import { memorySentLogStore, SentLog, type SentLogStore } from "./edge-handler.ts";

function rig(startedAt = 0) {
  let time = startedAt;
  const store = memorySentLogStore(startedAt);
  return {
    store,
    log: new SentLog(store, () => time),
    pass(milliseconds: number) {
      time += milliseconds;
    },
  };
}

const has = (store: SentLogStore, ids: readonly string[]) => Promise.all(ids.map((id) => store.has(id)));

describe("SentLog", () => {
  it("answers claims made at the same time once with yes", async () => {
    const { log } = rig();
    const answers = await Promise.all(Array.from({ length: 10 }, () => log.claim("a", false)));
    expect(answers.filter((answer) => answer === "new")).toHaveLength(1);
    expect(answers.filter((answer) => answer === "sent")).toHaveLength(9);
  });

  it("knows nothing of before it began, for as long as a phone may repeat", async () => {
    const { log, pass } = rig(5_000_000);
    expect(await log.claim("a", true)).toBe("unknown");
    pass(limits.repeatWindow);
    expect(await log.claim("a", true)).toBe("new");
    expect(await log.claim("a", true)).toBe("sent");
  });

  it("forgets what is too old to be repeated, without a doubt about the rest", async () => {
    const { log, store, pass } = rig();
    pass(limits.repeatWindow);
    await log.claim("old", false);
    pass(limits.sentLogTime + 1);
    for (let index = 0; index < 64; index += 1) await log.claim(`new-${index}`, false);
    expect(await has(store, ["old", "new-0"])).toEqual([false, true]);
    expect(await log.claim("other", true)).toBe("new");
  });

  it("drops the oldest of too many, and then says that it does not know", async () => {
    const { log, store, pass } = rig();
    pass(limits.repeatWindow);
    for (let index = 0; index < limits.sentLogEntries + 200; index += 1) {
      pass(1);
      await log.claim(`id-${index}`, false);
    }
    expect(await has(store, ["id-0", `id-${limits.sentLogEntries}`])).toEqual([false, true]);
    expect(await log.claim("id-0", true)).toBe("unknown");
    expect(await log.claim(`id-${limits.sentLogEntries}`, true)).toBe("sent");
    pass(limits.repeatWindow);
    expect(await log.claim("other", true)).toBe("new");
  });
});

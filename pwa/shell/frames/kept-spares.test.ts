import { beforeEach, describe, expect, it } from "vitest";
import { settle } from "../../../shared/testing/turns.ts";
import { MapStorage } from "../testing/map-storage.ts";
import { KeptSpares, type Locks } from "./spare-slots.ts";

/** Locks of one browser, and its tabs; a tab that ends releases its locks. */
class Browser {
  readonly storage = new MapStorage();
  readonly #held = new Map<string, object>();

  openTab(): { spares: KeptSpares; close(): void } {
    const tab = {};
    const locks: Locks = {
      request: async (name, _options, callback) => {
        if (this.#held.has(name)) return callback(null);
        this.#held.set(name, tab);
        return callback({ name, mode: "exclusive" });
      },
    };
    return {
      spares: new KeptSpares(this.storage, locks),
      close: () => {
        for (const [name, holder] of this.#held) if (holder === tab) this.#held.delete(name);
      },
    };
  }
}

let browser: Browser;
beforeEach(() => {
  browser = new Browser();
});

describe("KeptSpares", () => {
  it("gives the next sitting what this one has not used", async () => {
    const first = browser.openTab();
    expect(await first.spares.take()).toEqual([]);
    await first.spares.keep("s1");
    first.close();
    expect(await browser.openTab().spares.take()).toEqual(["s1"]);
  });

  it("gives it to one tab only", async () => {
    const first = browser.openTab();
    await first.spares.keep("s1");
    const second = browser.openTab();
    expect(await second.spares.take()).toEqual([]);
    first.close();
    const labels = await Promise.all([browser.openTab().spares.take(), browser.openTab().spares.take()]);
    expect(labels.flat()).toEqual(["s1"]);
  });

  it("does not give away what stands for an origin", async () => {
    const first = browser.openTab();
    await first.spares.keep("s1");
    first.spares.forget("s1");
    first.close();
    expect(await browser.openTab().spares.take()).toEqual([]);
  });

  it("does not keep what was given to an origin while the lock was asked for", async () => {
    const { spares } = browser.openTab();
    const kept = spares.keep("s1");
    spares.forget("s1");
    await kept;
    await settle();
    expect(browser.storage.getItem("ropeway.spare-slots") ?? "[]").toBe("[]");
  });

  it("has several, the newest first, and no end of them", async () => {
    const { spares, close } = browser.openTab();
    for (let number = 1; number <= 9; number++) await spares.keep(`s${number}`);
    close();
    expect(await browser.openTab().spares.take()).toEqual(["s9", "s8", "s7", "s6", "s5", "s4"]);
  });

  it.each(["{", "null", '{"a":1}', "[1]"])("begins empty with %j in storage", async (json) => {
    browser.storage.setItem("ropeway.spare-slots", json);
    expect(await browser.openTab().spares.take()).toEqual([]);
  });

  it("keeps nothing without locks", async () => {
    const spares = new KeptSpares(browser.storage, null);
    await spares.keep("s1");
    expect(await spares.take()).toEqual([]);
  });
});

it("gives a spare to an origin where nothing more can be stored", () => {
  const storage = new MapStorage();
  storage.setItem = () => {
    throw new DOMException("full", "QuotaExceededError");
  };
  expect(() => new KeptSpares(storage, null).forget("s1")).not.toThrow();
});

import { afterAll, describe, expect, it, vi } from "vitest";
import { isFromOwn } from "./slot-request.ts";

const SHELL = "http://localhost:8787";
const SLOT = "http://sbank.localhost:8787";
const OTHER_SLOT = "http://sevil.localhost:8787";

/** By id; the browser shows those of the worker's origin only. */
const CLIENTS: Readonly<Record<string, string>> = {
  page: `${SLOT}/`,
  written: "about:srcdoc",
  boot: `${SLOT}/.ropeway/boot`,
  placeholder: `${SLOT}/.ropeway/frame?url=x`,
};

vi.stubGlobal("self", {
  location: new URL(SLOT),
  clients: {
    get: async (id: string) => (CLIENTS[id] === undefined ? undefined : { url: CLIENTS[id] }),
  },
});
afterAll(() => void vi.unstubAllGlobals());

function isOwn(referrer: string, clientId: string, other: object = {}): Promise<boolean> {
  const request = { method: "GET", referrer, isHistoryNavigation: false, ...other };
  return isFromOwn({ request, clientId } as unknown as FetchEvent, SHELL);
}

describe("isFromOwn", () => {
  it.each([
    ["the shell", `${SHELL}/`, ""],
    ["a page of the slot", `${SLOT}/list`, ""],
    ["the boot page, which has looked", `${SLOT}/.ropeway/boot`, "boot"],
    ["whoever goes on from a page without referrers", "", "page"],
    ["whoever goes on from a written frame without referrers", "", "written"],
  ])("knows %s", async (_who, referrer, clientId) => {
    expect(await isOwn(referrer, clientId)).toBe(true);
  });

  it.each([
    ["another slot", `${OTHER_SLOT}/`, ""],
    ["another slot, in a frame that had a reserved page", `${OTHER_SLOT}/`, "boot"],
    ["nobody", "", ""],
    ["nobody, in a frame that had the boot page", "", "boot"],
    ["nobody, in a frame that had a placeholder", "", "placeholder"],
    ["nobody, in a frame that had a page of another slot", "", "hidden"],
  ])("does not know %s", async (_who, referrer, clientId) => {
    expect(await isOwn(referrer, clientId)).toBe(false);
  });

  it("lets the history and forms through", async () => {
    expect(await isOwn("", "", { isHistoryNavigation: true })).toBe(true);
    expect(await isOwn("", "", { method: "POST" })).toBe(true);
    expect(await isOwn(`${OTHER_SLOT}/`, "", { method: "POST" })).toBe(false);
  });
});

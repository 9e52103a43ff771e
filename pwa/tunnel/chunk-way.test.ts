import { afterEach, expect, it, vi } from "vitest";
import { setTimer } from "../../shared/clock.ts";
import { bodyOf, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { settle } from "../../shared/testing/turns.ts";
import { askInOrder } from "./exchange/exchange.ts";
import { PortOutbox } from "./port/slot-port.ts";
import { ORIGIN, slotRig, subresource } from "./port/testing/slot-rig.ts";
import { WarmedPages } from "./requests/warmed-pages.ts";
import { Wishes } from "./requests/wishes.ts";
import { turns } from "./store/testing/stored-bodies.ts";
import { STALE, TestPhone } from "./store/testing/stored-windows.ts";
import { tunnelRig } from "./testing/tunnel-rig.ts";

/** A chunk meets so many consumers between the decoder of the link and the port of its slot. */
const MOST = 4;

const picture = { ...subresource, url: `${ORIGIN}/a.png`, destination: "image", mode: "no-cors" } as const;

/** A phone with all that a picture of a page may pass on its way; of each chunk the consumers are written down. */
async function rig(budget: number | null) {
  Error.stackTraceLimit = 100;
  const window = new TestPhone().open();
  await window.store.opened;
  const wishes = new Wishes({ roundTrip: () => 50, pageBytes: () => 0, setTimer });
  wishes.set({ pictures: { recoding: "balanced", budget, readers: [] } });
  const warmed = new WarmedPages({
    ask: (request, consumer) => tunnel.ask(request, consumer),
    hasNoCookies: () => false,
    setTimer: () => () => {},
  });
  let body = "one body";
  const answer = async () => ({ head: { ...responseHead, headers: STALE }, body: bodyOf(body) });
  const { tunnel, connect } = tunnelRig(answer, { sources: [warmed.source, window.source.source] });
  await connect();
  const ways: string[][] = [];
  const { postData } = PortOutbox.prototype;
  vi.spyOn(PortOutbox.prototype, "postData").mockImplementation(function (this: PortOutbox, ...data) {
    ways.push(consumersIn(new Error("Of which only the stack counts").stack ?? ""));
    return postData.apply(this, data);
  });
  const slot = slotRig(undefined, askInOrder([wishes.source], tunnel.ask));
  let id = 0;
  return {
    ways,
    /** Asks for the picture. @returns how many consumers its chunks meet at most. */
    async load(content: string): Promise<number> {
      body = content;
      ways.length = 0;
      id += 1;
      const messages = await slot.ask(picture, id);
      while (!messages.some(({ type }) => type === "end")) {
        await turns(5);
        await settle();
        messages.push(...(await slot.heard()));
      }
      await window.stored({ ...picture, origin: ORIGIN, topLevelOrigin: ORIGIN });
      return Math.max(...ways.map(({ length }) => length));
    },
  };
}

/** Functions that take a chunk, as the engine names them, the last first. */
function consumersIn(stack: string): string[] {
  return stack.split("\n").flatMap((frame) => /at (?:async )?(\S*\bonBody) /.exec(frame)?.[1] ?? []);
}

afterEach(() => vi.restoreAllMocks());

it("a chunk passes four consumers at most, whether nothing is stored of it or another body", async () => {
  const { load, ways } = await rig(null);
  const first = await load("one body");
  expect(ways[0]).toEqual(["Object.onBody", "HeldResponse.onBody", "Object.onBody"]);
  const again = await load("another body");
  expect(Math.max(first, again)).toBeLessThanOrEqual(MOST);
});

it("that of a picture on a page with a budget passes a further one, which counts it", async () => {
  const { load } = await rig(1_000_000);
  expect(await load("one body")).toBe(MOST);
  expect(await load("another body")).toBe(MOST + 1);
});

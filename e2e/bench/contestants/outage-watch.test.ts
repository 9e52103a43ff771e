import { expect, it } from "vitest";
import { type CuttableLink, OutageWatch } from "./outage-watch.ts";

/** A link that carries 100 bytes between two looks, unless it is cut; it carried some before. */
function fakeLink() {
  const link = { bytes: 5_000, isCut: false, cuts: 0 };
  const cuttable: CuttableLink = {
    counters: async () => {
      if (!link.isCut) link.bytes += 100;
      return { down: { bytes: link.bytes } };
    },
    setOutage: async (on) => {
      if (on && !link.isCut) link.cuts += 1;
      link.isCut = on;
    },
  };
  return { link, cuttable };
}

it("cuts the link once, when so much has come, and gives it back", async () => {
  const { link, cuttable } = fakeLink();
  const watch = new OutageWatch(cuttable, { afterBytes: 500, duration: 60 });
  const { bytesBefore, returnedAt } = await watch.returned;
  expect([bytesBefore, link.cuts, link.isCut]).toEqual([500, 1, false]);
  await watch.stop();
  expect([returnedAt >= watch.startedAt + 60, link.cuts]).toEqual([true, 1]);
});

it("leaves the link there when the visit ends in the outage, or never came to it", async () => {
  for (const afterBytes of [100, 1e9]) {
    const { link, cuttable } = fakeLink();
    const watch = new OutageWatch(cuttable, { afterBytes, duration: 60_000 });
    while (afterBytes === 100 && !link.isCut) await new Promise((resolve) => setTimeout(resolve, 5));
    await watch.stop();
    expect([link.cuts, link.isCut]).toEqual([afterBytes === 100 ? 1 : 0, false]);
  }
});

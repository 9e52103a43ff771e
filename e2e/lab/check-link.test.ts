import { describe, expect, it } from "vitest";
import { arrivalRate, checkSetting, type LinkCheck, linkCheckTable } from "./check-link.ts";
import { checkSettings } from "./check-settings.ts";
import { Lab, type LinkSettings, missingForLab } from "./lab.ts";

const LINK: LinkSettings = { delay: 15, down: 2_000, up: 500, downQueue: 40, upQueue: 10, loss: 1 };

describe("checkSettings", () => {
  it("are 30, over the range of what the bench uses", () => {
    const settings = checkSettings();
    expect(settings).toHaveLength(30);
    expect(new Set(settings.map(({ name }) => name)).size).toBe(30);
    const links = settings.map(({ link }) => link);
    expect([Math.min(...links.map(({ delay }) => delay)), Math.max(...links.map(({ delay }) => delay))]).toEqual([
      5, 400,
    ]);
    expect([Math.min(...links.map(({ up }) => up)), Math.max(...links.map(({ down }) => down))]).toEqual([10, 20_000]);
    expect(Math.max(...links.map(({ loss }) => loss))).toBe(5);
  });
});

describe("arrivalRate", () => {
  it("leaves out the bytes that came before the clock started", () => {
    const arrivals = [
      [100, 9_999],
      [200, 1_000],
      [300, 1_000],
    ] as const;
    expect(arrivalRate(arrivals)).toBe(80);
    expect(arrivalRate([...arrivals, [900, 5_000]], 400)).toBe(40);
  });
});

describe("linkCheckTable", () => {
  it("has a row for each setting and marks what is not as asked", () => {
    const figures = { roundTrip: 20, down: 1_600, up: 768, loss: 1 };
    const check: LinkCheck = { setting: "x", asked: figures, measured: figures, lossInterval: [0.5, 1.5], ok: false };
    const table = linkCheckTable([check, { ...check, setting: "y", ok: true }]);
    expect(table).toContain("| x | 20 | 20 | 1,600 | 1,600 | 768 | 768 | 1 | 1 (0.5 to 1.5) | **no** |");
    expect(
      new Set(
        table
          .trimEnd()
          .split("\n")
          .map((line) => line.split("|").length),
      ),
    ).toEqual(new Set([12]));
  });
});

describe.runIf(missingForLab().length === 0)("checkSetting", () => {
  it("measures a link", { timeout: 60_000 }, async () => {
    const lab = await Lab.open({ link: LINK, congestion: "bbr", names: {} });
    try {
      const { asked, measured, lossInterval } = await checkSetting(lab, { name: "sample", link: LINK }, 1);
      expect(asked).toEqual({ roundTrip: 30, down: 1_980, up: 495, loss: 1 });
      // Never better than asked; a busy machine makes it worse.
      expect(measured.roundTrip).toBeGreaterThanOrEqual(30);
      for (const direction of ["down", "up"] as const) {
        expect(measured[direction] / asked[direction]).toBeGreaterThan(0.1);
        expect(measured[direction] / asked[direction]).toBeLessThan(1.05);
      }
      expect(lossInterval[0]).toBeLessThan(measured.loss);
      expect(lossInterval[1]).toBeGreaterThan(measured.loss);
      expect(lossInterval[0]).toBeLessThan(5);
      expect(lossInterval[1]).toBeGreaterThan(0.5);
    } finally {
      await lab.close();
    }
  });
});

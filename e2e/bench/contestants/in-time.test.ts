import { describe, expect, it } from "vitest";
import { ContestantError, HarnessError } from "../failure.ts";
import type { Site } from "../model.ts";
import type { Arrivals } from "./arrivals.ts";
import { asFailure, inTime } from "./in-time.ts";
import type { PhoneBrowser } from "./phone-browser.ts";

function browser(isConnected: boolean): PhoneBrowser {
  return { context: { browser: () => ({ isConnected: () => isConnected }) } } as unknown as PhoneBrowser;
}

describe("asFailure", () => {
  it("blames the contestant as long as the browser is there", () => {
    const failure = asFailure(new Error("net::ERR_FAILED\n  at page"), browser(true), "load the page");
    expect(failure).toBeInstanceOf(ContestantError);
    expect(failure.message).toBe("Cannot load the page: net::ERR_FAILED");
  });

  it("blames the bench when the browser is gone", () => {
    const failure = asFailure(new Error("closed"), browser(false), "load the page");
    expect(failure).toBeInstanceOf(HarnessError);
    expect(failure.message).toBe("Cannot load the page: the browser is gone: closed");
  });

  it.each([new ContestantError("slow"), new HarnessError("broken")])("leaves %s as it is", (error) => {
    expect(asFailure(error, browser(true), "load the page")).toBe(error);
  });
});

describe("inTime", () => {
  const site = { url: "https://page.test/", objects: 3 } as Site;
  const arrivals = { whole: 2, failures: "1 failed" } as Arrivals;
  const limit = { site, browser: browser(true), arrivals };

  it("hands on what the work gives", async () => {
    await expect(inTime({ ...limit, timeout: 60_000 }, async () => "loaded")).resolves.toBe("loaded");
  });

  it("ends work that takes too long, and says how far it came", async () => {
    const late = inTime({ ...limit, timeout: 1 }, () => new Promise(() => {}));
    await expect(late).rejects.toThrow(ContestantError);
    await expect(late).rejects.toThrow("Cannot load https://page.test/ in time: 2 of 3 objects after 0 s; 1 failed");
  });

  it("says whose fault an error is", async () => {
    const failed = inTime({ ...limit, browser: browser(false), timeout: 60_000 }, () =>
      Promise.reject(new Error("gone")),
    );
    await expect(failed).rejects.toThrow(HarnessError);
  });
});

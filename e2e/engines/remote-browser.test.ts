import { expect, it } from "vitest";
import { type Remote, startAgainAndAgain } from "./remote-browser.ts";

const browser: Remote = { name: "Browser 1", send: async () => null, close: async () => {} };

/** @param failures of the first starts. */
async function startAfter(failures: number) {
  let starts = 0;
  const told: string[] = [];
  const start = async (): Promise<Remote> => {
    if (++starts <= failures) throw new Error("Cannot start Browser: its driver does not listen");
    return browser;
  };
  return { remote: await startAgainAndAgain(start, (line) => told.push(line)), starts, told };
}

it("starts a browser again that did not come, and says why in a line each time", async () => {
  const line = "Cannot start Browser: its driver does not listen; trying again";
  expect(await startAfter(2)).toEqual({ remote: browser, starts: 3, told: [line, line] });
});

it("gives up after three starts, without a throw that ends the walk", async () => {
  const { remote, starts, told } = await startAfter(9);
  expect([remote, starts]).toEqual([null, 3]);
  expect(told.at(-1)).toBe("Cannot start Browser: its driver does not listen");
});

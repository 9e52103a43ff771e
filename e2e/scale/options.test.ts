import { describe, expect, it } from "vitest";
import { parseScaleArguments } from "./options.ts";

describe("the arguments", () => {
  it("name an experiment, and workerd unless they say otherwise", () => {
    expect(parseScaleArguments(["phones"])).toEqual({
      kind: "run",
      options: { experiment: "phones", runtime: "workerd", quick: false, seed: 1, minutes: 10, output: null },
    });
    expect(parseScaleArguments(["growth", "--quick", "--runtime", "deno", "--seed", "7", "--output", "x"])).toEqual({
      kind: "run",
      options: { experiment: "growth", runtime: "deno", quick: true, seed: 7, minutes: 10, output: "x" },
    });
    expect(parseScaleArguments(["phones", "--minutes", "15"])).toMatchObject({ options: { minutes: 15 } });
    expect(parseScaleArguments(["draw"])).toEqual({ kind: "draw" });
    expect(parseScaleArguments(["--help"])).toEqual({ kind: "help" });
  });

  it.each([
    [[], 'it takes one of idle, phones, growth, day and draw, not ""'],
    [["phones", "idle"], 'not "phones idle"'],
    [["phones", "--runtime", "bun"], 'there is no runtime "bun"'],
    [["idle", "--runtime", "deno"], "Deno does not hibernate"],
    [["phones", "--seed", "x"], '--seed takes a whole number, not "x"'],
    [["phones", "--minutes", "0"], '--minutes takes 1 to 120, not "0"'],
    [["growth", "--minutes", "9"], "--minutes is for phones only"],
    [["phones", "--loud"], "--loud"],
  ])("%j make no sense", (args, reason) => {
    expect(() => parseScaleArguments(args)).toThrow(reason);
  });
});

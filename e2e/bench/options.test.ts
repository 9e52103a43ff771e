import { describe, expect, it } from "vitest";
import { parseBenchArguments } from "./options.ts";

describe("parseBenchArguments", () => {
  it("takes all of each experiment by default, with five rounds after a warm-up", () => {
    expect(parseBenchArguments([])).toEqual({
      kind: "run",
      options: {
        given: [],
        mode: "full",
        rounds: 5,
        warmUpRounds: 1,
        seed: 1,
        only: [],
        cells: [],
        contestants: [],
        laboratories: 3,
        isUnquiet: false,
        isHot: false,
        front: "none",
        output: null,
      },
    });
  });

  it("takes parts of it, and remembers them but for the place of the result", () => {
    const parts = "--only A,R --cells delay=300 --rounds 2 --warm-up 0 --front http/3 --contestants".split(" ");
    const given = [...parts, "http/2, ropeway open without push"];
    expect(parseBenchArguments([...given, "--output", "/some/where"])).toMatchObject({
      options: {
        given,
        rounds: 2,
        warmUpRounds: 0,
        only: ["A", "R"],
        cells: ["delay=300"],
        contestants: ["http/2", "ropeway open without push"],
        front: "http/3",
        output: "/some/where",
      },
    });
  });

  it("fills a shared cache in a round that does not count", () => {
    expect(parseBenchArguments(["--smoke", "--hot"])).toMatchObject({ options: { isHot: true, warmUpRounds: 1 } });
  });

  it.each(["all", "plan", "publish", "check-link"] as const)("has the command %s", (kind) => {
    expect(parseBenchArguments([`--${kind}`])).toEqual({ kind });
  });

  it.each([
    [["--rounds", "0"], '--rounds takes a whole number from 1, not "0"'],
    [["--contestants", "http/4"], 'there is no contestant "http/4"; there are http/1.0'],
    [["--front", "nginx"], 'there is no front "nginx"; there are none'],
    [["quick"], "Unexpected argument 'quick'"],
    [["--fast"], "Unknown option '--fast'"],
  ])("refuses %j", (args, message) => {
    expect(() => parseBenchArguments(args)).toThrow(`Cannot run the bench: ${message}`);
  });
});

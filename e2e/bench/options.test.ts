import { describe, expect, it } from "vitest";
import { ALL_CONTESTANTS } from "./model.ts";
import { parseBenchArguments } from "./options.ts";

describe("parseBenchArguments", () => {
  it("takes the full run by default, with five rounds after a warm-up", () => {
    expect(parseBenchArguments([])).toEqual({
      kind: "run",
      options: {
        given: [],
        mode: "full",
        rounds: 5,
        mostRounds: 15,
        precision: 0.03,
        warmUpRounds: 1,
        isTwice: false,
        seed: 1,
        only: [],
        cells: [],
        contestants: ALL_CONTESTANTS,
        replays: "full",
        recorded: [],
        laboratories: 3,
        isUnquiet: false,
        isHot: false,
        isUnlearned: false,
        pictures: "off",
        output: null,
      },
    });
  });

  it("fills a shared cache in a round that does not count", () => {
    expect(parseBenchArguments(["--quick", "--hot"])).toMatchObject({ options: { isHot: true, warmUpRounds: 1 } });
  });

  it("takes a setting of the app for pictures", () => {
    expect(parseBenchArguments(["--pictures", "balanced"])).toMatchObject({ options: { pictures: "balanced" } });
    expect(() => parseBenchArguments(["--pictures", "none"])).toThrow('not "none"');
  });

  it("takes a comparison of what is in front of the edge", () => {
    expect(parseBenchArguments("--fronts --rounds 2".split(" "))).toEqual({ kind: "fronts", rounds: 2 });
  });

  it("takes a profile of some cells", () => {
    expect(parseBenchArguments("--profile --cells delay=5,app=open --rounds 2".split(" "))).toEqual({
      kind: "profile",
      options: { cells: ["delay=5", "app=open"], rounds: 2, seed: 1, output: null },
    });
    expect(parseBenchArguments(["--profile"])).toMatchObject({ options: { cells: [], rounds: 3 } });
  });

  it("takes parts of it", () => {
    const command = parseBenchArguments([
      ..."--quick --only A,R --cells delay=300 --output /some/where --rounds 2 --seed 7 --unquiet --unlearned".split(
        " ",
      ),
      "--contestants",
      "http/2, ropeway warm",
    ]);
    expect(command).toMatchObject({
      options: {
        given: [
          ..."--quick --only A,R --cells delay=300 --rounds 2 --seed 7 --unquiet --unlearned".split(" "),
          "--contestants",
          "http/2, ropeway warm",
        ],
        mode: "quick",
        rounds: 2,
        warmUpRounds: 0,
        seed: 7,
        only: ["A", "R"],
        cells: ["delay=300"],
        contestants: ["http/2", "ropeway warm"],
        replays: "short",
        laboratories: 1,
        isUnquiet: true,
        isUnlearned: true,
      },
    });
  });

  it.each([
    [["--rounds", "0"], 'Cannot run the bench: --rounds takes a whole number from 1, not "0"'],
    [["--rounds", "1.5"], 'Cannot run the bench: --rounds takes a whole number from 1, not "1.5"'],
    [["--contestants", "http/4"], /Cannot run the bench: there is no contestant "http\/4"; there are http\/1.1/],
    [["quick"], "Cannot run the bench: quick is no option; see --help"],
    [["--fast"], /Cannot run the bench: Unknown option '--fast'/],
    [["--report"], "Cannot run the bench: --report needs the names of result files"],
    [["--compare", "a.json"], "Cannot run the bench: --compare needs the names of result files"],
  ])("refuses %j", (args, message) => {
    expect(() => parseBenchArguments(args)).toThrow(message);
  });

  it("has the commands that work on earlier results", () => {
    expect(parseBenchArguments(["--compare", "a.json", "b.json"])).toEqual({
      kind: "compare",
      files: ["a.json", "b.json"],
    });
    expect(parseBenchArguments(["--publish"])).toEqual({ kind: "publish", files: [] });
    expect(parseBenchArguments(["--check-link"])).toEqual({ kind: "check-link" });
  });
});

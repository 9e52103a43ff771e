import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Behaviour,
  type BehaviourRequest,
  behaviourFault,
  METHODS,
  thinkTime,
  type Workload,
} from "./behaviour.ts";
import { readWorkload, writeWorkload } from "./behaviour-file.ts";

const VALID = [
  "# Ropeway behaviours 1",
  "behaviour\tread\t500",
  "0\t0\t-\tGET\thttps://a.test/\t500\t0\t300\t1000",
  "1\t20\t0\tPOST\thttps://a.test/x?y=1\t500\t10\t300\t0",
];

function withLine(position: number, line: string): string {
  return VALID.with(position, line).join("\n");
}

const request = fc.record({
  /** Chosen among the requests before. */
  dependencySeeds: fc.array(fc.nat(), { maxLength: 4 }),
  think: fc.nat(10_000),
  method: fc.constantFrom(...METHODS),
  path: fc.webPath(),
  lengths: fc.tuple(fc.nat(4_000), fc.nat(100_000), fc.nat(4_000), fc.nat(5_000_000)),
});

const behaviour = fc
  .record({
    habit: fc.constantFrom("login", "read", "re-post2"),
    pause: fc.nat(60_000),
    seeds: fc.array(request, { minLength: 1, maxLength: 12 }),
  })
  .map(({ habit, pause, seeds }): Behaviour => {
    const requests: BehaviourRequest[] = [];
    for (const [index, { dependencySeeds, think, method, path, lengths }] of seeds.entries()) {
      const dependencies = index === 0 ? [] : [...new Set(dependencySeeds.map((seed) => seed % index))];
      const ready = Math.max(0, ...dependencies.map((dependency) => requests[dependency]?.time ?? 0));
      const bodiless = method === "GET" || method === "HEAD";
      requests.push({
        index,
        time: ready + think,
        dependencies,
        method,
        url: `https://host.test${path.startsWith("/") ? path : "/"}`,
        requestHead: lengths[0],
        requestBody: bodiless ? 0 : lengths[1],
        responseHead: lengths[2],
        responseBody: method === "HEAD" ? 0 : lengths[3],
      });
    }
    return { habit, pause, requests };
  });

const workload: fc.Arbitrary<Workload> = fc
  .array(behaviour, { minLength: 1, maxLength: 4 })
  .map((behaviours) => ({ name: "any", behaviours }));

describe("behaviour files", () => {
  it("are read as they were written", () => {
    fc.assert(
      fc.property(workload, (written) => {
        expect(readWorkload(writeWorkload(written, ["a comment"]), "any", "any.tsv")).toEqual(written);
      }),
    );
  });

  it("have think times from 0, of which request times are the sum along the longest chain", () => {
    fc.assert(
      fc.property(behaviour, (valid) => {
        const ends: number[] = [];
        for (const one of valid.requests) {
          expect(thinkTime(one, valid)).toBeGreaterThanOrEqual(0);
          ends.push(thinkTime(one, valid) + Math.max(0, ...one.dependencies.map((index) => ends[index] ?? 0)));
        }
        expect(ends).toEqual(valid.requests.map(({ time }) => time));
      }),
    );
  });

  it("with a dependency turned around are refused", () => {
    fc.assert(
      fc.property(behaviour, fc.nat(), fc.nat(), (valid, one, other) => {
        const from = one % valid.requests.length;
        const to = from + (other % (valid.requests.length - from));
        const requests = valid.requests.map((each) => (each.index === from ? { ...each, dependencies: [to] } : each));
        expect(behaviourFault({ ...valid, requests })).toContain(`request ${from}: it depends on ${to}`);
      }),
    );
  });

  it.each([
    [0, "# Ropeway behaviours 2", "line 1: it is not"],
    [1, "behaviour\tread", "line 2: a behaviour has a habit and a pause"],
    [1, "behaviour\tRead it\t0", 'line 2: its habit "Read it"'],
    [1, "behaviour\tread\t-5", "line 2: its pause NaN"],
    [1, "", "line 3: there is no behaviour before this request"],
    [2, "1\t0\t-\tGET\thttps://a.test/\t500\t0\t300\t1000", "line 3: its index is 1"],
    [2, "0\t0\t-\tGET\thttps://a.test/\t500\t0\t300", "line 3: it has 8 cells, not 9"],
    [2, "0\t0\t-\tget\thttps://a.test/\t500\t0\t300\t1", "line 3: its method get is none of GET"],
    [2, "0\t0\t-\tGET\t/index\t500\t0\t300\t1", 'line 3: its URL "/index" is not an absolute'],
    [2, "0\t0\t-\tGET\thttps://a.test/#f\t500\t0\t300\t1", "without a fragment"],
    [2, "0\t0\t-\tGET\thttps://a.test/\t5e2\t0\t300\t1", "line 3: its requestHead NaN"],
    [2, "0\t0\t-\tGET\thttps://a.test/\t500\t7\t300\t1", "line 3: a GET has no body"],
    [2, "0\t0\t-\tHEAD\thttps://a.test/\t500\t0\t300\t1", "line 3: the answer to HEAD has no body"],
    [2, "0\t30\t-\tGET\thttps://a.test/\t500\t0\t300\t1", "line 4: it comes before its dependency 0"],
    [3, "1\t20\t1\tGET\thttps://a.test/\t500\t0\t300\t1", "line 4: it depends on 1, which is not an earlier request"],
    [3, "1\t20\t0,0\tGET\thttps://a.test/\t500\t0\t300\t1", "line 4: it names a dependency twice"],
    [3, "1\t20\t\tGET\thttps://a.test/\t500\t0\t300\t1", "line 4: it depends on NaN"],
    [3, "behaviour\tidle\t0", "line 4: it has no requests"],
  ])("name file and line of what is wrong: line index %i as %j", (position, line, message) => {
    expect(() => readWorkload(withLine(position, line), "any", "some.tsv")).toThrow(message);
    expect(() => readWorkload(withLine(position, line), "any", "some.tsv")).toThrow("Cannot read some.tsv");
  });

  it("are refused when empty", () => {
    expect(() => readWorkload("# Ropeway behaviours 1\n", "any", "some.tsv")).toThrow("it has no behaviour");
  });
});

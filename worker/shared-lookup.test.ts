import { describe, expect, it } from "vitest";
import { settle } from "../shared/testing/turns.ts";
import { shareLookups } from "./shared-lookup.ts";

function setUp(most: number) {
  const asked: string[] = [];
  const answers = new Map<string, { resolve(addresses: readonly string[]): void; reject(error: Error): void }>();
  const resolveName = shareLookups((host) => {
    asked.push(host);
    const { promise, ...answer } = Promise.withResolvers<readonly string[]>();
    answers.set(host, answer);
    return promise;
  }, most);
  return { asked, answers, resolveName };
}

describe("shared lookups", () => {
  it("asks once for the same name at the same time, and anew afterwards", async () => {
    const { asked, answers, resolveName } = setUp(9);
    const both = [resolveName("a.example"), resolveName("a.example")];
    answers.get("a.example")?.resolve(["192.0.2.1"]);
    expect(await Promise.all(both)).toEqual([["192.0.2.1"], ["192.0.2.1"]]);
    const again = resolveName("a.example");
    answers.get("a.example")?.reject(new Error("gone"));
    await expect(again).rejects.toThrow("gone");
    expect(asked).toEqual(["a.example", "a.example"]);
  });

  it("lets no more run than the limit, the others in order", async () => {
    const { asked, answers, resolveName } = setUp(2);
    const names = ["a", "b", "c", "d", "e"];
    const all = Promise.allSettled(names.map(resolveName));
    await settle();
    expect(asked).toEqual(["a", "b"]);
    answers.get("b")?.reject(new Error("no such name"));
    await settle();
    expect(asked).toEqual(["a", "b", "c"]);
    for (const name of ["a", "c"]) answers.get(name)?.resolve([]);
    await settle();
    expect(asked).toEqual(names);
    for (const name of ["d", "e"]) answers.get(name)?.resolve([]);
    expect((await all).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    const [next, later] = [resolveName("f"), resolveName("g")];
    await settle();
    expect(asked.slice(5)).toEqual(["f", "g"]);
    for (const name of ["f", "g"]) answers.get(name)?.resolve(["192.0.2.7"]);
    expect(await Promise.all([next, later])).toEqual([["192.0.2.7"], ["192.0.2.7"]]);
  });
});

import { expect, it } from "vitest";
import { sourceShape } from "./source-shape.ts";

const source = `import { a } from "./a.ts";
import type { B } from "./b.ts";
export { c } from "./c.ts";
export type * from "./d.ts";

/** Text that names import("./no.ts") is no import. */
export const late = (): Promise<typeof import("./f.ts")> => import("./e.ts");
export type Late = import("./g.ts").G;

export class Thing {
  readonly field: B = a;
  readonly #hidden = 1;
  private unseen = 2;

  constructor() {}

  get value(): number {
    return this.#hidden;
  }

  method(): void {
    // A comment counts.

  }
}
`;

it("sees imports of values and types, re-exports and dynamic imports", () => {
  const { imports, exportsAll } = sourceShape("x.ts", source);
  expect(imports).toEqual([
    { specifier: "./a.ts", names: ["a"] },
    { specifier: "./b.ts", names: ["B"] },
    { specifier: "./c.ts", names: ["c"] },
    { specifier: "./d.ts", names: ["*"] },
    { specifier: "./e.ts", names: ["*"] },
    { specifier: "./f.ts", names: ["*"] },
    { specifier: "./g.ts", names: ["G"] },
  ]);
  expect(exportsAll).toBe(true);
  expect(sourceShape("x.ts", 'export { c } from "./c.ts";').exportsAll).toBe(false);
});

it("counts the lines of each function", () => {
  expect(sourceShape("x.ts", source).functions).toEqual([
    { line: 7, lines: 1 },
    { line: 15, lines: 1 },
    { line: 17, lines: 3 },
    { line: 21, lines: 4 },
  ]);
});

it("reads components", () => {
  expect(sourceShape("x.tsx", "export const View = () => <p>text</p>;\n").functions).toHaveLength(1);
});

it("says which file it cannot parse", () => {
  expect(() => sourceShape("x.ts", "const = 1;")).toThrow(/^Cannot parse x\.ts: /);
});

import { describe, expect, it } from "vitest";
import { houseFaults } from "./house-faults.ts";
import { sourceShape } from "./source-shape.ts";

const faultsOf = (path: string, text: string): string[] => houseFaults(path, sourceShape(path, text));

const functionOf = (lines: number): string => `export function f() {\n${"  g();\n".repeat(lines - 2)}}\n`;

describe("faults of the house", () => {
  it("are functions above 60 lines", () => {
    expect(faultsOf("worker/upstream/x.ts", functionOf(60))).toEqual([]);
    expect(faultsOf("worker/upstream/x.ts", functionOf(61))).toEqual([
      "worker/upstream/x.ts:1: function of 61 lines, more than 60",
    ]);
  });

  it("are imports in a direction that is forbidden, of types too", () => {
    expect(
      faultsOf("pwa/slot/page/x.ts", 'import "./y.ts";\nimport type { T } from "../../tunnel/tunnel.ts";\n'),
    ).toEqual(["pwa/slot/page/x.ts: may not import pwa/tunnel/tunnel.ts (scripts/house/import-direction.ts)"]);
    expect(faultsOf("pwa/messages/x.ts", 'import "../slot/slot-url.ts";\n')).toHaveLength(1);
  });

  it.each([
    ["const a = /^\\s*\\s*$/;", 1],
    ["const a = /(?:a|a)+b/;", 1],
    ["const a = /\\s+$/;", 1],
    ["const a = /\\s+$/y;", 0],
    ["const a = /;.*$/s;", 0],
    ["const a = /^[a-z]+:\\/\\//i;", 0],
    ['const a = new RegExp("\\\\s+" + "$");', 1],
    [`const s = "\\\\s+"; const a = RegExp(\`\${s}$\`, "g");`, 1],
    [`const s = "\\\\s+"; const a = new RegExp(\`^\${s}$\`);`, 0],
  ])("are expressions that take more than linear time: %s", (text, count) => {
    expect(faultsOf("worker/upstream/x.ts", text)).toHaveLength(count);
    expect(faultsOf("e2e/x.ts", text)).toEqual([]);
  });

  it("are expressions that are put together as the product runs, but for those that have a reason", () => {
    const said =
      /^(.*): (\d) expressions may be put together as it runs, and are in lines ([\d, ]*): write literals, or say why/;
    const told = (path: string, text: string) => faultsOf(path, text).map((fault) => said.exec(fault)?.slice(1));
    for (const text of [
      `RegExp(\`^\${a()}$\`)`,
      "const f = (s: string) => new globalThis.RegExp(s)",
      'new RegExp("a", f)',
    ])
      expect(told("worker/upstream/x.ts", `\n${text};`)).toEqual([["worker/upstream/x.ts", "0", "2"]]);
    expect(faultsOf("worker/upstream/opaque.ts", "new RegExp(a);")).toEqual([]);
    expect(told("worker/upstream/opaque.ts", "new RegExp(a);\nnew RegExp(a);")[0]?.slice(1)).toEqual(["1", "1, 2"]);
    expect(told("worker/upstream/opaque.ts", "")).toHaveLength(1);
    expect(faultsOf("e2e/x.ts", "new RegExp(a);")).toEqual([]);
  });

  it("are not sought in tests, but for their imports", () => {
    expect(faultsOf("shared/x.test.ts", functionOf(500))).toEqual([]);
    expect(faultsOf("shared/x.test.ts", 'import "../pwa/shell/main/shell.ts";\n')).toHaveLength(1);
  });
});

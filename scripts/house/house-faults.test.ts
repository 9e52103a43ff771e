import { describe, expect, it } from "vitest";
import { houseFaults } from "./house-faults.ts";
import { sourceShape } from "./source-shape.ts";

const faultsOf = (path: string, text: string): string[] => houseFaults(path, sourceShape(path, text));

const functionOf = (lines: number): string => `export function f() {\n${"  g();\n".repeat(lines - 2)}}\n`;
const classOf = (members: number): string =>
  `export class C {\n${Array.from({ length: members }, (_, index) => `  m${index}() {}\n`).join("")}  #own = 1;\n}\n`;

describe("faults of the house", () => {
  it("are files above 400 lines", () => {
    expect(faultsOf("shared/x.ts", "export {};\n".repeat(400))).toEqual([]);
    expect(faultsOf("shared/x.ts", "export {};\n".repeat(401))).toEqual(["shared/x.ts: 401 lines, more than 400"]);
    expect(faultsOf("e2e/lab/x.ts", "export {};\n".repeat(401))).toHaveLength(1);
  });

  it("are functions above 60 lines", () => {
    expect(faultsOf("worker/upstream/x.ts", functionOf(60))).toEqual([]);
    expect(faultsOf("worker/upstream/x.ts", functionOf(61))).toEqual([
      "worker/upstream/x.ts:1: function of 61 lines, more than 60",
    ]);
  });

  it("are classes above 25 public members", () => {
    expect(faultsOf("pwa/slot/x.ts", classOf(25))).toEqual([]);
    expect(faultsOf("pwa/slot/x.ts", classOf(26))).toEqual([
      "pwa/slot/x.ts:1: class of 26 public members, more than 25",
    ]);
  });

  it("are imports in a direction that is forbidden, of types too", () => {
    expect(
      faultsOf("pwa/slot/page/x.ts", 'import "./y.ts";\nimport type { T } from "../../tunnel/tunnel.ts";\n'),
    ).toEqual(["pwa/slot/page/x.ts: may not import pwa/tunnel/tunnel.ts (scripts/house/import-direction.ts)"]);
    expect(faultsOf("pwa/messages/x.ts", 'import "../slot/slot-url.ts";\n')).toHaveLength(1);
  });

  it("are not sought in tests, but for their imports", () => {
    expect(faultsOf("shared/x.test.ts", functionOf(500) + classOf(30))).toEqual([]);
    expect(faultsOf("shared/x.test.ts", 'import "../pwa/shell/shell.ts";\n')).toHaveLength(1);
  });
});

import { describe, expect, it } from "vitest";
import {
  borderTable,
  circleFaults,
  MODULES,
  mapFaults,
  moduleFaults,
  moduleMap,
  moduleOf,
  withMap,
} from "./modules.ts";
import { type SourceShape, sourceShape } from "./source-shape.ts";

/** A project in which each door of the table exports one name, and each module uses what it may. */
function tidyProject(): Map<string, string> {
  const files = new Map<string, string>();
  for (const { doors } of MODULES) for (const file of doors) files.set(file, "export const it = 1;\n");
  for (const { name, places, uses } of MODULES) {
    const folder = places[0] ?? "";
    const entered = MODULES.filter((other) => uses.includes(other.name)).flatMap(({ doors }) => doors);
    const up = "../".repeat(folder.split("/").length - 1);
    files.set(`${folder}user-of-${name}.ts`, entered.map((file) => `import { it } from "${up}${file}";\n`).join(""));
  }
  return files;
}

const shapesOf = (files: ReadonlyMap<string, string>): Map<string, SourceShape> =>
  new Map([...files].map(([path, text]) => [path, sourceShape(path, text)]));

const faultsWith = (path: string, text: string): string[] => moduleFaults(shapesOf(tidyProject().set(path, text)));

describe("modules", () => {
  it("have files of their own: the longest place that fits", () => {
    expect(moduleOf("worker/push/push-order.ts")?.name).toBe("push");
    expect(moduleOf("worker/delivery/deliver.ts")?.name).toBe("delivery");
    expect(moduleOf("shared/subprotocol.ts")?.name).toBe("link");
    expect(moduleOf("shared/errors.ts")?.name).toBe("base");
    expect(moduleOf("shared/errors.test.ts")).toBeUndefined();
    expect(moduleOf("e2e/lab/lab.ts")).toBeUndefined();
  });

  it("are tidy where each uses what it may, through doors", () => {
    expect(moduleFaults(shapesOf(tidyProject()))).toEqual([]);
  });

  it.each(MODULES.filter(({ uses }) => uses.length < MODULES.length - 1))(
    "$name uses no others than it may",
    (module) => {
      const other = MODULES.find(
        ({ name, doors }) => name !== module.name && !module.uses.includes(name) && doors.length > 0,
      );
      const folder = module.places[0] ?? "";
      const path = `${folder}x.ts`;
      const specifier = "../".repeat(folder.split("/").length - 1) + other?.doors[0];
      expect(faultsWith(path, `import type { T } from "${specifier}";\n`)).toEqual([
        `${path}: ${module.name} may not use ${other?.name} (${other?.doors[0]})`,
      ]);
    },
  );

  it("are not entered past their doors", () => {
    const doors = MODULES.find(({ name }) => name === "delivery")?.doors.join(", ");
    expect(faultsWith("worker/session/x.ts", 'import { y } from "../delivery/y.ts";\n')).toEqual([
      `worker/session/x.ts: may not import worker/delivery/y.ts past the doors of delivery: ${doors}`,
    ]);
  });

  it("name what they export", () => {
    const [{ doors: [door = ""] = [] } = {}] = MODULES;
    for (const path of [door, "pwa/shell/main/x.ts"])
      expect(faultsWith(path, 'export * from "./y.ts";\n')).toEqual([`${path}: "export *": name what it exports`]);
  });

  it("have no door that nobody enters, and may use no module that they do not use", () => {
    const files = tidyProject();
    for (const path of files.keys()) if (path.includes("user-of-")) files.set(path, "");
    const faults = moduleFaults(shapesOf(files));
    for (const { name, doors, uses } of MODULES) {
      for (const file of doors) expect(faults).toContain(`${file}: nobody outside ${name} imports it; it is no door`);
      for (const other of uses) expect(faults).toContain(`${name}: does not use ${other} any more`);
    }
  });

  it("use each other in no circle", () => {
    const chain = [
      { name: "a", uses: ["b"] },
      { name: "b", uses: ["c"] },
    ];
    expect(circleFaults([...chain, { name: "c", uses: [] }])).toEqual([]);
    expect(circleFaults([...chain, { name: "c", uses: ["b"] }])).toEqual([
      "b: uses itself, through others",
      "c: uses itself, through others",
    ]);
  });

  it("are counted by the names that others take", () => {
    const table = borderTable(shapesOf(tidyProject()));
    const { doors = [] } = MODULES.find(({ name }) => name === "push") ?? {};
    expect(table).toContain(`| push | ${doors.length} | ${doors.length} |`);
  });

  it("stand in CONTRIBUTING's map, a line each", () => {
    const stale = moduleMap().replace("| **link**", "| **lank**");
    const text = `# Map\n\n${stale}\n\nAnd so on.\n`;
    expect(mapFaults(text)).toHaveLength(1);
    expect(withMap(text)).toBe(`# Map\n\n${moduleMap()}\n\nAnd so on.\n`);
    expect(mapFaults(withMap(text))).toEqual([]);
    expect(moduleMap().split("\n")).toHaveLength(MODULES.length + 2);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../build/paths.ts";
import { MOST_KINDS, messageKinds } from "./message-kinds.ts";

it("counts object types with one literal as their type, in files of messages alone", () => {
  const text = 'export type A = { type: "a" } | { readonly type: "b"; kind: "c" } | { type: string };\n';
  const files = new Map([
    ["pwa/messages/a-messages.ts", text],
    ["pwa/messages/a-messages.test.ts", text],
    ["pwa/shell/a.ts", text],
  ]);
  expect([...messageKinds(files)]).toEqual([["pwa/messages/a-messages.ts", ["a", "b"]]]);
});

it("finds no more kinds of messages than there were", () => {
  const folder = join("pwa", "messages");
  const paths = readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts"));
  const files = new Map(
    paths.map((name) => [`pwa/messages/${name}`, readFileSync(join(root, folder, name), "utf8")] as const),
  );
  expect([...messageKinds(files).values()].flat().length).toBeLessThanOrEqual(MOST_KINDS);
});

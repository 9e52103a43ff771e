import { expect, it } from "vitest";
import { neutraliseRelations } from "./html-rewriter.ts";

it("renames relations that act past the service worker", () => {
  expect(neutraliseRelations("preconnect")).toBe("ropeway-preconnect");
  expect(neutraliseRelations("DNS-Prefetch  stylesheet")).toBe("ropeway-DNS-Prefetch  stylesheet");
  expect(neutraliseRelations("preload stylesheet icon")).toBeNull();
  expect(neutraliseRelations("")).toBeNull();
});

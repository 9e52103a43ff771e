import { expect, it } from "vitest";
import { hasNullBody, isRedirectStatus } from "./origin.ts";

it("knows which responses have no body", () => {
  for (const status of [101, 204, 205, 304]) expect(hasNullBody("GET", status)).toBe(true);
  for (const status of [200, 206, 404]) expect(hasNullBody("GET", status)).toBe(false);
  expect(hasNullBody("HEAD", 200)).toBe(true);
});

it("knows which lead elsewhere", () => {
  for (const status of [301, 302, 303, 307, 308]) expect(isRedirectStatus(status)).toBe(true);
  for (const status of [200, 300, 304, 305, 306, 309]) expect(isRedirectStatus(status)).toBe(false);
});

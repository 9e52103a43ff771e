import { expect, it } from "vitest";
import { DOWN_PATH, UP_PATH } from "../../../shared/fetch-road/record.ts";
import * as subprotocol from "../../../shared/subprotocol.ts";
import { appPaths } from "./own-paths.ts";

it("has all that the protocol names, and what is below", () => {
  const { LITE_PATH, RESERVED_PATH, ...named } = subprotocol;
  const paths = Object.entries(named).flatMap(([name, path]) => (name.endsWith("_PATH") ? [path] : []));
  expect(paths.length).toBeGreaterThan(6);
  const below = [DOWN_PATH, UP_PATH].map((path) => subprotocol.TUNNEL_PATH + path);
  const asked = ["/codes", "/key"].map((path) => subprotocol.DEVICES_PATH + path);
  expect(appPaths([])).toEqual(expect.arrayContaining([...paths, ...below, ...asked]));
  for (const prefix of [LITE_PATH, RESERVED_PATH]) expect(appPaths([])).not.toContain(prefix);
});

it("has the app's files, and each once", () => {
  const paths = appPaths(["/", "/shell.js", "/sw.js", "/.ropeway/lite-0.js"]);
  expect(paths).toEqual(expect.arrayContaining(["/", "/shell.js", "/.ropeway/lite-0.js"]));
  expect(new Set(paths).size).toBe(paths.length);
});

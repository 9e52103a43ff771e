import { expect, it } from "vitest";
import { clientHints } from "./fields.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

it.each([
  [
    "Chrome on Android",
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/140.0.0.0 Mobile Safari/537.36`,
    [`"Chromium";v="140", "Google Chrome";v="140", "Not_A Brand";v="24"`, "?1", `"Android"`],
  ],
  [
    "Edge on Windows",
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/156.0.0.0 Safari/537.36 Edg/155.0.0.0`,
    [`"Chromium";v="156", "Microsoft Edge";v="155", "Not_A Brand";v="24"`, "?0", `"Windows"`],
  ],
  [
    "Chrome on Linux",
    `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/156.0.0.0 Safari/537.36`,
    [`"Chromium";v="156", "Google Chrome";v="156", "Not_A Brand";v="24"`, "?0", `"Linux"`],
  ],
  ["Firefox", "Mozilla/5.0 (Android 15; Mobile; rv:153.0) Gecko/153.0 Firefox/153.0", []],
  ["nothing", "", []],
])("of %s", (_browser, userAgent, expected) => {
  expect(clientHints(userAgent).map(([, value]) => value)).toEqual(expected);
});

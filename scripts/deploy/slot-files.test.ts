import { expect, it } from "vitest";
import { headersFile, slotFiles } from "./slot-files.ts";

const WORKER = ".ropeway/slot-worker-0123456789abcdef0123.js";
const scripts = ["lost", "boot", "frame", "wipe", "sw"].map((name) => `.ropeway/${name}.js`);
const pages = ["lost", "boot", "frame", "wipe"].map((name) => `.ropeway/${name}.html`);
const text = (html: string) => new TextEncoder().encode(html);
const app = new Map([
  ...[...scripts, WORKER, ".ropeway/tunnel.js", "index.html"].map((path) => [path, text(`// ${path}`)] as const),
  ...pages.map((path) => [path, text(`<script src="/${path.replace("html", "js")}"></script>`)] as const),
]);
const BASE = "https://ropeway.me.workers.dev";
const LIST = "ropeway-s[01-24].me.workers.dev";

/** Fields of a path, as Cloudflare reads the file: each rule that fits takes fields away, then adds its own. */
function fieldsOf(headers: string, path: string): Map<string, string> {
  const fields = new Map<string, string>();
  let fits = false;
  for (const line of headers.trim().split("\n")) {
    const [, unset, name = "", value = ""] = /^ {2}(?:! (\S+)|([^:]+): (.*))$/.exec(line) ?? [];
    if (!line.startsWith(" ")) fits = line === "/*" || line === path;
    else if (fits && unset !== undefined) fields.delete(unset);
    else if (fits) fields.set(name, [fields.get(name), value].filter((each) => each !== undefined).join(", "));
  }
  return fields;
}

it("has what boots a site's host, and nothing of the app", () => {
  const files = slotFiles(app, BASE, LIST);
  expect([...files.keys()].sort()).toEqual(
    [
      ...[...scripts, WORKER, "404.html", "_headers", ".ropeway/cleared"],
      ...["boot", "frame", "wipe"].map((name) => `.ropeway/${name}`),
    ].sort(),
  );
  const textOf = (path: string) => new TextDecoder().decode(files.get(path));
  expect(textOf(".ropeway/boot")).toContain(`data-shell="${BASE}"`);
  expect(textOf(".ropeway/sw.js")).toContain("https://ropeway-s24.me.workers.dev");
  expect(textOf("404.html")).toContain("/.ropeway/lost.js");
});

it("says of each path what the edge would say", () => {
  const headers = new TextDecoder().decode(slotFiles(app, BASE, LIST).get("_headers"));
  for (const line of headers.split("\n")) expect(line.length).toBeLessThan(2000);
  const page = fieldsOf(headers, "/any/page");
  expect(page.get("content-security-policy")).toMatch(/frame-ancestors https:\/\/ropeway\.me\.workers\.dev https:/);
  expect(page.get("cache-control")).toBe("no-store");
  expect(page.has("content-type") || page.has("clear-site-data")).toBe(false);
  const worker = fieldsOf(headers, "/.ropeway/sw.js");
  expect(worker.get("service-worker-allowed")).toBe("/");
  expect(worker.get("cache-control")).toBe("public, max-age=3600");
  expect(worker.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(fieldsOf(headers, `/${WORKER}`).get("cache-control")).toContain("immutable");
  expect(fieldsOf(headers, "/.ropeway/boot").get("content-type")).toBe("text/html; charset=utf-8");
  expect(fieldsOf(headers, "/.ropeway/cleared").get("clear-site-data")).toBe('"storage"');
  for (const path of ["/.ropeway/boot", "/.ropeway/boot.js", "/.ropeway/wipe"])
    expect(fieldsOf(headers, path).has("clear-site-data")).toBe(false);
});

it("refuses what the platform would pass over", () => {
  expect(() => headersFile({ a: "x".repeat(2000) }, new Map())).toThrow("take fewer hosts");
  expect(() => headersFile({ a: "b" }, new Map(Array.from({ length: 100 }, (_, at) => [`/${at}`, {}])))).toThrow(
    /rules/,
  );
  expect(() => slotFiles(new Map(), BASE, LIST)).toThrow("was not built");
});

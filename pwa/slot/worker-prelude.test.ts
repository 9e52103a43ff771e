import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { parse } from "acorn";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { beforeScript, blobPrelude, withCommon, workerPrelude } from "./page-workers.ts";

const config = {
  origin: "https://example.org",
  base: "https://example.org/worker.js",
  connect: ["connect-src 'self'"],
};

it("leaves a script strict that says so first, and no other", () => {
  const isStrict = (script: string): unknown => {
    const scope = { strict: null as unknown };
    runInNewContext(beforeScript("var before = 1;", script) + script, scope);
    return scope.strict;
  };
  const ask = "strict = (function () { return this === undefined; })();";
  expect(isStrict(`"use strict"; ${ask}`)).toBe(true);
  expect(isStrict(`\ufeff// A word\n /* another */ 'use strict'\n${ask}`)).toBe(true);
  expect(isStrict(ask)).toBe(false);
  expect(isStrict(`/* "use strict" */ ${ask}`)).toBe(false);
});

it("stays on the first line, and leaves nothing behind but what it gives", () => {
  const script = withCommon(
    "ropewayCommon = (host) => host + 1;\n",
    "given = [ropewayCommon(1), ropewayWorker.origin];\n",
  );
  const prelude = workerPrelude(script, config);
  const scope: Record<string, unknown> = { given: null };
  runInNewContext(`${prelude}let own = 1;`, scope);
  expect(prelude.trimEnd()).not.toContain("\n");
  expect(scope.given).toEqual([2, "https://example.org"]);
  expect(Object.keys(scope)).toEqual(["given"]);
});

it("uses no global by a name that the script may declare", async () => {
  const scope: Record<string, unknown> = { Event, Map, given: null };
  const script = withCommon("ropewayCommon = Event;", "given = [ropewayCommon, new Map()];");
  runInNewContext(`${workerPrelude(script, config)}class Event {} const Map = null, { URL } = {};`, scope);
  expect(scope.given).toEqual([Event, new Map()]);
});

it("gives its scripts all globals that they use", async () => {
  const [taken = ""] = /^\(\(\{.*?\}\)/.exec(workerPrelude("", config)) ?? [];
  for (const name of ["realm-script", "worker-script"]) {
    const entry = join(import.meta.dirname, `documents/${name}.ts`);
    const { outputFiles } = await build({ entryPoints: [entry], bundle: true, minify: true, write: false });
    const [{ text = "" } = {}] = outputFiles ?? [];
    const used = namesIn(parse(text, { ecmaVersion: "latest" })).filter((each) => GLOBALS.has(each));
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((each) => !new RegExp(`\\b${each}\\b`).test(taken))).toEqual([]);
  }
});

/** But for the one that has all others. */
const GLOBALS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis).filter((name) => name !== "globalThis"),
  ..."CloseEvent,Location,WebSocketStream,Worker,XMLHttpRequest,location,self".split(","),
]);

/** Names that stand for themselves, not for members. */
function namesIn(node: unknown, isMember = false): string[] {
  if (Array.isArray(node)) return node.flatMap((each) => namesIn(each));
  const { type, name, computed, ...parts } = (node ?? {}) as Readonly<Record<string, unknown>>;
  if (type === "Identifier") return isMember ? [] : [String(name)];
  return Object.entries(parts).flatMap(([key, part]) =>
    typeof part === "object" ? namesIn(part, computed !== true && (key === "property" || key === "key")) : [],
  );
}

it("leaves a script in a blob none of the browser's own sockets", () => {
  const scope: Record<string, unknown> = {
    WebSocket: "native",
    WebSocketStream: "native",
    importScripts() {
      throw new Error("forbidden");
    },
  };
  scope.self = scope;
  runInNewContext(blobPrelude("http://s1.localhost", config, false, "Worker"), scope);
  expect([scope.WebSocketStream, scope.WebSocket]).toEqual([undefined, undefined]);
});

it("is loaded by a script in a blob when that first wants a socket", () => {
  const loaded: string[] = [];
  const scope: Record<string, unknown> = {
    WebSocket: "native",
    importScripts(url: string) {
      loaded.push(url);
      scope.WebSocket = "loaded";
    },
  };
  scope.self = scope;
  runInNewContext(blobPrelude("http://s1.localhost", config, false, "Worker"), scope);
  expect(loaded).toEqual([]);
  expect(scope.WebSocket).toBe("loaded");
  expect(scope.WebSocket).toBe("loaded");
  expect(loaded).toHaveLength(1);
  const [path = "", query = ""] = loaded[0]?.split("?") ?? [];
  expect(path).toBe("http://s1.localhost/.ropeway/worker.js");
  expect(JSON.parse(decodeURIComponent(query))).toEqual(config);
  expect(blobPrelude("http://s1.localhost", config, true, "Worker")).toMatch(/^import"http.*";$/);
});

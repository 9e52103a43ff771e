import { posix } from "node:path";

/**
 * Rules of imports. The first row whose pattern matches the importing file decides; a file that no row
 * names may not import anything of the project.
 */
const rows: readonly (readonly [importer: string, mayImport: readonly string[]])[] = [
  // Contract tests start edges and origins, and talk to them with the app's own tunnel.
  [
    "worker/{contract/**,testing/*.sealed.ts}",
    ["worker/**", "shared/**", "pwa/{messages,platform,tunnel}/**", "scripts/**", "e2e/fixtures/**"],
  ],
  ["worker/testing/**", ["worker/**", "shared/**", "scripts/**"]],
  ["worker/**/{*.test.ts,testing/**}", ["worker/**", "shared/**"]],
  ["pwa/**/{*.test.{ts,tsx},testing/**}", ["pwa/**", "shared/**"]],
  ["shared/{*.test.ts,testing/**}", ["shared/**", "package.json"]],

  ["shared/wire/**", ["shared/*", "shared/{wire,testing}/**"]],
  ["shared/mux/**", ["shared/*", "shared/{mux,wire,testing}/**"]],
  ["shared/**", ["shared/**"]],

  ["worker/upstream/**", ["shared/**", "worker/upstream/**"]],
  ["worker/shared-cache/**", ["shared/**", "worker/{shared-cache,upstream}/**"]],
  ["worker/push/**", ["shared/**", "worker/push/**"]],
  ["worker/delivery/**", ["shared/**", "worker/{delivery,push,upstream,shared-cache,blocking}/**"]],
  ["worker/session/**", ["shared/**", "worker/{session,delivery}/**"]],
  ["worker/devices/**", ["shared/**", "worker/devices/**"]],
  ["worker/blocking/**", ["shared/**", "worker/blocking/**", "worker/devices/record-store.ts"]],
  ["worker/front/**", ["shared/**", "worker/{front,devices,upstream}/**"]],
  [
    "worker/workerd/**",
    [
      "shared/**",
      "worker/{workerd,front,devices,session,delivery,blocking,shared-cache,upstream}/**",
      "node_modules/{@bokuweb,@jsquash}/**/*.wasm",
    ],
  ],
  ["worker/deno/**", ["shared/**", "worker/{deno,front,devices,session,delivery,blocking,shared-cache,upstream}/**"]],

  ["pwa/platform/**", ["pwa/platform/**"]],
  ["pwa/messages/**", ["shared/**", "pwa/messages/**"]],
  ["pwa/tunnel/**", ["shared/**", "pwa/{tunnel,messages,platform}/**"]],
  ["pwa/slot/**", ["shared/**", "pwa/{slot,messages}/**"]],
  ["pwa/sw/**", ["shared/**", "pwa/{sw,slot,messages}/**"]],
  ["pwa/shell/**", ["shared/**", "pwa/{shell,slot,messages,platform}/**"]],

  // What a frame costs is measured on shared's own frames; simulated phones are the app's own tunnel.
  ["e2e/bench/websocket-cost/**", ["e2e/**", "scripts/**", "shared/**"]],
  ["e2e/scale/phones/**", ["e2e/**", "scripts/**", "shared/**", "pwa/{messages,tunnel}/**", "worker/testing/**"]],
  // What the rules of caching fail of the public tests, a slot fails, too.
  ["e2e/fixtures/cache-test-reasons.ts", ["shared/testing/http/cache-test-reasons.ts"]],
  ["e2e/**", ["e2e/**", "scripts/**"]],
  ["{scripts/**,*}", ["**"]],
];

/** Whether a file is a test, or there for tests only. */
export const isTesting = (path: string): boolean =>
  posix.matchesGlob(path, "**/{*.test.{ts,tsx},*.spec.ts,*.sealed.ts,testing/**,contract/**}");

/** Whether a file of the project may import another. Paths are relative to the project, with "/". */
export function mayImport(importer: string, imported: string): boolean {
  const [, allowed = []] = rows.find(([pattern]) => posix.matchesGlob(importer, pattern)) ?? [];
  const isProduct = /^(shared|worker|pwa)\//.test(importer) && !isTesting(importer);
  return allowed.some((pattern) => posix.matchesGlob(imported, pattern)) && !(isProduct && isTesting(imported));
}

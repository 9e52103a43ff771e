import { existsSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../build/paths.ts";
import { mayImport } from "./import-direction.ts";

/** A file in a directory of the project, and what it imports. */
type Import = readonly [directory: string, specifier: string];

const forbidden: readonly Import[] = [
  ["shared", "../worker/front/router.ts"],
  ["shared/http", "../../pwa/messages/page-messages.ts"],
  ["shared/http", "../../e2e/lab/shaper.ts"],
  ["shared/http", "../testing/turns.ts"],
  ["shared/mux", "../../worker/front/router.ts"],
  ["shared/mux", "../http/heads.ts"],
  ["shared/mux/pipe", "../../http/heads.ts"],
  ["shared/wire", "../../pwa/messages/tunnel-messages.ts"],
  ["shared/wire", "../mux/session/session.ts"],
  ["shared/wire", "../coding/link-coding.ts"],
  ["shared/wire/hpack", "../../http/heads.ts"],
  ["worker", "../pwa/shell/main/shell.ts"],
  ["worker/upstream", "../../e2e/lab/shaper.ts"],
  ["worker/upstream", "../../pwa/tunnel/tunnel.ts"],
  ["worker/upstream", "../push/push-order.ts"],
  ["worker/upstream", "../session/served-session.ts"],
  ["worker/upstream", "../front/router.ts"],
  ["worker/upstream", "../workerd/entry-workers.ts"],
  ["worker/upstream", "../deno/entry-deno.ts"],
  ["worker/delivery", "../session/served-session.ts"],
  ["worker/push", "../front/router.ts"],
  ["worker/delivery", "../workerd/entry-workers.ts"],
  ["worker/session", "../front/router.ts"],
  ["worker/session", "../upstream/upstream.ts"],
  ["worker/push", "../delivery/session-delivery.ts"],
  ["worker/session", "../workerd/entry-workers.ts"],
  ["worker/session", "../deno/entry-deno.ts"],
  ["worker/session", "../testing/phone-session.ts"],
  ["worker/front", "../session/tunnel-server.ts"],
  ["worker/front", "../workerd/entry-workers.ts"],
  ["worker/front", "../deno/entry-deno.ts"],
  ["worker/workerd", "../deno/entry-deno.ts"],
  ["worker/deno", "../workerd/entry-workers.ts"],
  ["worker", "../scripts/edge-process.ts"],
  ["pwa/tunnel", "../../worker/front/router.ts"],
  ["pwa/messages", "../tunnel/tunnel.ts"],
  ["pwa/messages", "../shell/app/state.ts"],
  ["pwa/messages", "../slot/rewrite/html-rewriter.ts"],
  ["pwa/messages", "../sw/slot-worker.ts"],
  ["pwa/tunnel/sockets", "../../shell/app/state.ts"],
  ["pwa/tunnel/port", "../../slot/page/navigation-rules.ts"],
  ["pwa/tunnel", "../sw/slot-worker.ts"],
  ["pwa/slot/page", "../../shell/app/state.ts"],
  ["pwa/slot", "../tunnel/tunnel.ts"],
  ["pwa/slot", "../sw/slot-worker.ts"],
  ["pwa/sw/shell", "../../shell/link/remembered.ts"],
  ["pwa/sw", "../tunnel/tunnel.ts"],
  ["pwa/shell", "../sw/slot-worker.ts"],
  ["pwa/shell/views", "../../../e2e/lab/shaper.ts"],
  ["e2e/specs", "../../shared/errors.ts"],
  ["e2e/bench/servers", "../../../shared/errors.ts"],
  ["e2e/bench/websocket-cost", "../../../worker/front/router.ts"],
  ["e2e/scale/phones", "../../../worker/front/router.ts"],
  ["e2e/fixtures", "../../worker/front/router.ts"],
  ["e2e/fixtures", "../../pwa/shell/main/shell.ts"],
];

const allowed: readonly Import[] = [
  ["shared/mux", "../wire/frame.ts"],
  ["shared/http", "../mux/session/session.ts"],
  ["shared/wire/hpack", "../../errors.ts"],
  ["worker/upstream", "../../shared/http/heads.ts"],
  ["worker/delivery", "../upstream/upstream.ts"],
  ["worker/session", "../delivery/session-delivery.ts"],
  ["worker/front", "../devices/phone-door.ts"],
  ["worker/deno", "../delivery/edge-handler.ts"],
  ["worker/workerd", "../session/tunnel-server.ts"],
  ["pwa/tunnel", "../../shared/transport.ts"],
  ["pwa/tunnel/port", "../../messages/port-messages.ts"],
  ["pwa/sw/shell", "../slot-worker.ts"],
  ["pwa/sw/answer", "../../slot/rewrite/html-rewriter.ts"],
  ["pwa/shell/views", "../../messages/tunnel-messages.ts"],
  ["e2e/fixtures", "../../scripts/edge-process.ts"],
  ["e2e/bench/websocket-cost", "../../../shared/wire/frame.ts"],
  ["e2e/scale/phones", "../../../pwa/tunnel/tunnel.ts"],
  ["scripts", "../worker/front/router.ts"],
];

const mayImportFrom = ([directory, specifier]: Import, file: string): boolean =>
  mayImport(`${directory}/${file}`, posix.join(directory, specifier));

describe("import direction", () => {
  it.each([...forbidden, ...allowed])("is tested with files that are there: %s, %s", (...each) => {
    expect(existsSync(posix.join(root, ...each))).toBe(true);
  });

  it.each(forbidden)("%s does not import %s", (...each) => {
    expect(mayImportFrom(each, "case.ts")).toBe(false);
  });

  it.each(allowed)("%s may import %s", (...each) => {
    expect(mayImportFrom(each, "case.ts")).toBe(true);
  });

  it("lets tests use testing, which the product does not", () => {
    const turns: Import = ["shared/mux/pipe", "../../testing/turns.ts"];
    expect(mayImportFrom(turns, "channel.test.ts")).toBe(true);
    expect(mayImportFrom(turns, "channel.ts")).toBe(false);
  });

  it("lets contract tests start edges and tunnels, and no other test of the edge", () => {
    for (const path of [
      "../../scripts/edge-process.ts",
      "../../pwa/tunnel/tunnel.ts",
      "../../e2e/fixtures/origin.ts",
    ]) {
      expect(mayImportFrom(["worker/contract", path], "edge-http.contract.test.ts")).toBe(true);
      expect(mayImportFrom(["worker/session", path], "session.test.ts")).toBe(false);
    }
    expect(mayImportFrom(["worker/contract", "../../pwa/shell/main/shell.ts"], "edge-http.contract.test.ts")).toBe(
      false,
    );
  });
});

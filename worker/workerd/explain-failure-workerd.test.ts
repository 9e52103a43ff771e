import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { classifyFailure } from "../upstream/send.ts";
import { createExplainFailure, type ExplainFailureDeps } from "./fetch-workerd.ts";

const lost = classifyFailure(new Error("Network connection lost."));
const internal = classifyFailure(new Error("internal error; reference = abc"));

function explainWith(
  outcome: "opened" | "opened, TLS failed" | "opened, TLS failed later" | "failed" | "hangs",
  extra: Partial<ExplainFailureDeps> = {},
) {
  const asked: { hostname: string; port: number }[] = [];
  let closes = 0;
  const explain = createExplainFailure({
    connect: (address) => {
      asked.push(address);
      const failure = () => Promise.reject(new Error("proxy request failed, cannot connect to the specified address"));
      const socket = (fate: string): ReturnType<ExplainFailureDeps["connect"]> => ({
        // A handshake that fails ends what comes.
        readable: outcome === "opened, TLS failed later" ? new Blob([]).stream() : new ReadableStream(),
        writable: new WritableStream(),
        opened: fate === "opened" ? Promise.resolve({}) : fate === "failed" ? failure() : new Promise(() => {}),
        closed: fate === "failed" ? failure() : new Promise(() => {}),
        close: async () => closes++,
        startTls: () => socket(outcome === "opened, TLS failed" ? "failed" : "opened"),
      });
      return socket(outcome.startsWith("opened") ? "opened" : outcome);
    },
    setTimer(task, delay) {
      // The whole diagnosis takes longer than a handshake.
      if (outcome === "hangs" || delay < 2_000) task();
      return () => {};
    },
    ...extra,
  });
  return { explain, asked, closes: () => closes };
}

describe("createExplainFailure", () => {
  it.each([
    ["refused", "failed", lost, "http://a.example/", ErrorCode.CONNECTION_REFUSED],
    ["reset", "opened", lost, "https://a.example/", ErrorCode.CONNECTION_RESET],
    ["reset in TLS", "opened, TLS failed", lost, "https://a.example/", ErrorCode.CONNECTION_RESET],
    ["TLS", "opened, TLS failed", internal, "https://a.example/", ErrorCode.TLS_FAILED],
    [
      "TLS that fails once it is used",
      "opened, TLS failed later",
      internal,
      "https://a.example/",
      ErrorCode.TLS_FAILED,
    ],
    ["not HTTP over TLS", "opened", internal, "https://a.example/", ErrorCode.NOT_HTTP],
    ["not HTTP", "opened", internal, "http://a.example/", ErrorCode.NOT_HTTP],
    ["no such name", "failed", internal, "https://a.example/", ErrorCode.NAME_NOT_RESOLVED],
    ["blocked IPv4", "failed", internal, "http://10.0.0.1/", ErrorCode.DESTINATION_FORBIDDEN],
    ["blocked IPv6", "failed", internal, "http://[fd00::1]/", ErrorCode.DESTINATION_FORBIDDEN],
    ["timeout", "hangs", internal, "http://a.example/", ErrorCode.UPSTREAM_TIMEOUT],
  ] as const)("explains %s", async (_name, outcome, failure, url, code) => {
    expect(await explainWith(outcome).explain(new URL(url), failure)).toBe(code);
  });

  it.each([
    [async () => ["10.0.0.1"], ErrorCode.DESTINATION_FORBIDDEN],
    [async () => ["8.8.8.8"], ErrorCode.UPSTREAM_FAILED],
    [async () => [], ErrorCode.NAME_NOT_RESOLVED],
    [async () => Promise.reject(new Error("NXDOMAIN")), ErrorCode.NAME_NOT_RESOLVED],
  ])("asks a resolver where there is one", async (resolveName, code) => {
    const { explain } = explainWith("failed", { resolveName });
    expect(await explain(new URL("http://intranet.example/"), internal)).toBe(code);
  });

  it("probes the port of the URL once and closes the socket", async () => {
    for (const [url, hostname, port] of [
      ["http://a.example/", "a.example", 80],
      ["https://a.example/", "a.example", 443],
      ["https://[2606:4700::1]:8443/", "2606:4700::1", 8443],
      ["http://app.localhost:3000/", "127.0.0.1", 3000],
    ] as const) {
      const { explain, asked, closes } = explainWith("opened");
      await explain(new URL(url), internal);
      expect(asked).toEqual([{ hostname, port }]);
      expect(closes()).toBe(1);
    }
  });
});

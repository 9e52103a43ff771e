/** What an origin names as a dictionary, and answers of one API: the phone's own store and tunnel, with every edge. */
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SocketPlatform } from "../../pwa/tunnel/sockets/first-socket.ts";
import { TestPhone as StoringPhone } from "../../pwa/tunnel/store/testing/stored-windows.ts";
import { Tunnel } from "../../pwa/tunnel/tunnel.ts";
import { toBase64Url } from "../../shared/base-encodings.ts";
import { TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { ConsumerLog } from "../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";
import { dial } from "../testing/test-phone.ts";

/** Text of words that do not repeat, so that only a dictionary makes it short. */
const words = Array.from({ length: 700 }, (_, i) => createHash("sha256").update(`${i}`).digest("base64url"));

/** Counts the bytes that the link carries to the phone. */
function countingPlatform(): SocketPlatform & { bytes: number } {
  const platform = {
    bytes: 0,
    dial: (...[offer, listener]: Parameters<SocketPlatform["dial"]>) =>
      dial("websocket", offer, {
        ...listener,
        onOpen: () => listener.onOpen(),
        onMessage(message) {
          platform.bytes += message.length;
          listener.onMessage(message);
        },
        onClose: (code, reason) => listener.onClose(code, reason),
      }),
    dialFurther: () => null,
    now: () => performance.now(),
    random: () => Math.random(),
    setTimer(task: () => void, delay: number) {
      const timer = setTimeout(task, delay);
      return () => clearTimeout(timer);
    },
    probe: async () => "reachable" as const,
  };
  return platform;
}

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);

  it("sends a phone what differs from what its origin named, and from the API's answer before", async () => {
    const origin = await edge.originOf(({ url = "" }, response) => {
      const isData = url.startsWith("/api/");
      const named = url === "/names.js" ? { "use-as-dictionary": 'match="/app-*.js", match-dest=("script")' } : {};
      const type = isData ? "application/json" : "text/javascript";
      const body = isData ? JSON.stringify({ url, words }) : `// ${url}\n${words.join("\n")}`;
      response.writeHead(200, { "content-type": type, "cache-control": "private, max-age=600", ...named }).end(body);
    });
    const platform = countingPlatform();
    const window = new StoringPhone().open(true);
    const tunnel = new Tunnel({ onPhase() {}, onTraffic() {} }, platform, [window.source.source]);
    tunnel.introduce({ userAgent: "TestPhone/1", acceptLanguage: "en" });
    tunnel.offerDictionaries(toBase64Url(randomBytes(32)));
    tunnel.start(edge.url.replace(/^http/, "ws").replace(/\/?$/, TUNNEL_PATH), edge.token);

    /** Bytes on the link. */
    async function cost(path: string, destination: "" | "script" | "style"): Promise<number> {
      const log = new ConsumerLog();
      const head = { ...requestHead, url: origin + path, destination, origin, topLevelOrigin: origin };
      const before = platform.bytes;
      tunnel.ask({ head, body: null, push: null }, log);
      await log.over;
      expect(log.text).toContain(words.at(-1));
      expect(log.text).toContain(path);
      return platform.bytes - before;
    }

    const whole = await cost("/names.js", "script");
    await cost("/api/0", "");
    // The edge keeps both when it has time.
    for (let count = 1; (await cost(`/app-${count}.js`, "script")) > whole / 10; count += 1) await sleep(300);
    for (let count = 1; (await cost(`/api/${count}`, "")) > whole / 10; count += 1) await sleep(300);
    // What nobody has named comes whole.
    expect(await cost("/other-1.js", "script")).toBeGreaterThan(whole * 0.9);
    expect(await cost("/app-x.js", "style")).toBeGreaterThan(whole * 0.9);
    tunnel.giveUp();
  });
});

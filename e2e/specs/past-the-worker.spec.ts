/**
 * Frames that a page makes and holds on to: as soon as one of their documents has an `RTCPeerConnection`, it is used. A
 * datagram that arrives came past the tunnel, from the phone's own address.
 */
import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { expect, test as plain } from "../fixtures/browser.ts";

interface StunServer {
  readonly url: string;
  readonly datagrams: () => number;
}

const test = plain.extend<{ stun: StunServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads fixtures' needs off the pattern
  stun: async ({}, use) => {
    const socket = createSocket("udp4");
    let datagrams = 0;
    socket.on("message", () => {
      datagrams += 1;
    });
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    await use({ url: `stun:127.0.0.1:${(socket.address() as AddressInfo).port}`, datagrams: () => datagrams });
    socket.close();
  },
});

/** Milliseconds in which a frame's documents come and go, and datagrams arrive. */
const PATIENCE = 1_500;

/**
 * Puts the frame in, and holds it by its index, which nothing can patch. Of all frames the first document is blank, and
 * has a case of its own.
 */
function attack([markup, stun, isBlank]: readonly [markup: string, stun: string, isBlank: boolean]): void {
  document.body.insertAdjacentHTML("beforeend", markup);
  const frame = window[0] as unknown as Window & { readonly RTCPeerConnection?: typeof RTCPeerConnection };
  const used = new WeakSet<typeof RTCPeerConnection>();
  const poll = (): void => {
    try {
      const Peer = frame.RTCPeerConnection;
      if (Peer !== undefined && !used.has(Peer) && (frame.location.href === "about:blank") === isBlank) {
        used.add(Peer);
        const peer = new Peer({ iceServers: [{ urls: stun }] });
        peer.createDataChannel("x");
        void peer.setLocalDescription();
      }
    } catch {
      // Of another origin for now.
    }
    setTimeout(poll);
  };
  poll();
}

const WAYS: readonly (readonly [what: string, markup: string])[] = [
  ["a reserved path with nothing on it", `<iframe src="/.ropeway/nothing"></iframe>`],
  ["the boot page", `<iframe src="/.ropeway/boot"></iframe>`],
  ["the boot page that goes on", `<iframe src="/.ropeway/boot?then=%2Fslow"></iframe>`],
  ["a frame's placeholder", `<iframe src="/.ropeway/frame?url=x"></iframe>`],
  ["a navigation that is handed on", `<iframe src="/.ropeway/go?url=x"></iframe>`],
  ["a download", `<iframe src="/.ropeway/download?url=%2Fslow"></iframe>`],
  ["a blank frame", "<iframe></iframe>"],
  ["a blank frame that is written into", `<iframe onload="contentDocument.write('x')"></iframe>`],
  ["a javascript: frame, which stays blank", `<iframe src="javascript:'<p>x'"></iframe>`],
  ["a srcdoc frame", `<iframe srcdoc="<p>x"></iframe>`],
  ["a srcdoc frame that keeps loading", `<iframe srcdoc="<img src=/slow>"></iframe>`],
  ["a page without scripts", `<iframe sandbox="allow-same-origin" src="/still"></iframe>`],
  ["a page whose policy forbids scripts", `<iframe src="/silent"></iframe>`],
  ["a page that fails", `<iframe src="/gone"></iframe>`],
  ["a page that leads elsewhere", `<iframe src="/elsewhere"></iframe>`],
  ["text", `<iframe src="/text"></iframe>`],
  ["an image", `<iframe src="/image"></iframe>`],
  ["media", `<iframe src="/media"></iframe>`],
];

for (const [what, markup] of WAYS) {
  test(`nothing gets past the service worker by ${what}`, async ({ app, origin, otherOrigin, stun }) => {
    const answer = (path: string, headers: Record<string, string>, body: string) =>
      origin.route(path, ({ reply }) => reply(200, headers, body));
    origin.page("/", "<p>Evil</p>");
    origin.page("/still", "<p>Still</p>");
    answer("/silent", { "content-type": "text/html", "content-security-policy": "sandbox" }, "<p>Silent</p>");
    answer("/text", { "content-type": "text/plain" }, "text");
    answer("/image", { "content-type": "image/svg+xml" }, `<svg xmlns="http://www.w3.org/2000/svg"/>`);
    answer("/media", { "content-type": "audio/wav" }, "");
    origin.route("/slow", () => {});
    origin.route("/gone", ({ response }) => void response.destroy());
    origin.route("/elsewhere", ({ reply }) => reply(302, { location: `${otherOrigin.origin}/` }, ""));
    await app.goto(`${origin.origin}/`);
    const content = await app.content();
    // The browser may end the frame's process for it.
    await content.evaluate(attack, [markup, stun.url, what.includes("blank")] as const).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, PATIENCE));
    expect(stun.datagrams()).toBe(0);
  });
}

test("a navigation to a reserved path that is no page leaves the frame as it is", async ({ app, origin }) => {
  origin.page("/", "<p>Evil</p>");
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  for (const path of ["nothing", "", "page.js", "boot.js", "sw.js"]) {
    const left = await content.evaluate(async (name) => {
      const frame = document.createElement("iframe");
      frame.src = `/.ropeway/${name}`;
      document.body.append(frame);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return frame.contentWindow?.location.href;
    }, path);
    expect(left, path).toBe("about:blank");
  }
  expect(await content.evaluate(() => fetch("/.ropeway/nothing").then(({ status }) => status))).toBe(404);
});

test("documents without the page script have no such features either, once they stand", async ({ app, origin }) => {
  origin.page("/", "<p>Evil</p>");
  origin.page("/still", "<p>Still</p>");
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  for (const markup of [
    `<iframe src="/.ropeway/boot"></iframe>`,
    `<iframe src="/.ropeway/frame?url=x"></iframe>`,
    `<iframe srcdoc="<p>x"></iframe>`,
    `<iframe sandbox="allow-same-origin" src="/still"></iframe>`,
  ]) {
    const left = await content.evaluate(async (html) => {
      document.body.insertAdjacentHTML("beforeend", html);
      const frame = window[window.length - 1] as Window;
      const isThere = () => frame.document.readyState === "complete" && frame.location.href !== "about:blank";
      while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
      await new Promise((resolve) => setTimeout(resolve, 50));
      return ["RTCPeerConnection", "WebTransport", "cookieStore"].filter((name) => name in frame);
    }, markup);
    expect(left, markup).toEqual([]);
  }
});

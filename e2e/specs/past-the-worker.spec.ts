/**
 * Frames that a page makes and holds on to: as soon as one of their documents has an `RTCPeerConnection`, it is used. A
 * datagram that arrives came past the tunnel, from the phone's own address.
 */
import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { expect, testInOneApp as plain } from "../fixtures/browser.ts";

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

type Attributes = Readonly<Record<string, string>>;

/**
 * Holds a frame by its index, which nothing can patch. A frame's first document is blank, and shares its window with the
 * next one: so the frame shows a page before it gets its attributes. Null: the blank document itself, before all else.
 */
async function attack([attributes, stun]: readonly [Attributes | null, stun: string]): Promise<void> {
  const element = document.createElement("iframe");
  if (attributes !== null) element.src = "/still";
  document.body.append(element);
  const frame = window[0] as unknown as Window & { readonly RTCPeerConnection?: typeof RTCPeerConnection };
  if (attributes !== null) await new Promise((resolve) => element.addEventListener("load", resolve));
  const used = new WeakSet<typeof RTCPeerConnection>();
  const poll = (): void => {
    try {
      const Peer = frame.RTCPeerConnection;
      if (Peer !== undefined && !used.has(Peer)) {
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
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (name === "blob") element.src = URL.createObjectURL(new Blob([value], { type: "text/html" }));
    else element.setAttribute(name, value);
  poll();
}

const WAYS: readonly (readonly [what: string, attributes: Attributes | null])[] = [
  ["a reserved path with nothing on it", { src: "/.ropeway/nothing" }],
  ["a script of ours", { src: "/.ropeway/page.js" }],
  ["the boot page", { src: "/.ropeway/boot" }],
  ["the boot page that goes on", { src: "/.ropeway/boot?then=%2Fslow" }],
  ["a frame's placeholder", { src: "/.ropeway/frame?url=x" }],
  ["a navigation that is handed on", { src: "/.ropeway/go?url=x" }],
  ["a frame's first document", null],
  ["a blank document", { src: "about:blank" }],
  ["a javascript: document", { src: "javascript:'<p>x'" }],
  ["a srcdoc document", { srcdoc: "<p>x" }],
  ["a srcdoc document that keeps loading", { srcdoc: "<img src=/slow>" }],
  ["a blob's document", { blob: "<p>x<img src=/slow>" }],
  ["a page without scripts", { sandbox: "allow-same-origin", src: "/other" }],
  ["a page whose policy forbids scripts", { src: "/silent" }],
  ["a page that fails", { src: "/gone" }],
  ["a page that leads elsewhere", { src: "/elsewhere" }],
  ["text", { src: "/text" }],
  ["an image", { src: "/image" }],
];

for (const [what, attributes] of WAYS) {
  test(`nothing gets past the service worker by ${what}`, async ({ app, origin, otherOrigin, stun }) => {
    const answer = (path: string, headers: Record<string, string>, body: string) =>
      origin.route(path, ({ reply }) => reply(200, headers, body));
    origin.page("/", "<p>Evil</p>");
    for (const path of ["/still", "/other"]) origin.page(path, "<p>Still</p>");
    answer("/silent", { "content-type": "text/html", "content-security-policy": "sandbox" }, "<p>Silent</p>");
    answer("/text", { "content-type": "text/plain" }, "text");
    answer("/image", { "content-type": "image/svg+xml" }, `<svg xmlns="http://www.w3.org/2000/svg"/>`);
    origin.route("/slow", () => {});
    origin.route("/gone", ({ response }) => void response.destroy());
    origin.route("/elsewhere", ({ reply }) => reply(302, { location: `${otherOrigin.origin}/` }, ""));
    await app.goto(`${origin.origin}/`);
    const content = await app.content();
    // The browser may end the frame's process for it.
    await content.evaluate(attack, [attributes, stun.url] as const).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, PATIENCE));
    expect(stun.datagrams()).toBe(0);
  });
}

test("a bundle of a page's files, which the browser fetches by itself, is not asked for", async ({
  app,
  origin,
  otherOrigin,
}) => {
  const { origin: other } = otherOrigin;
  const bundle = (
    way: string,
  ) => `<script type="webbundle">{"source":"${other}/bundle?${way}","resources":["${other}/x"]}</script>
    <img src="${other}/behind?${way}">`;
  const literal = (way: string) => JSON.stringify(bundle(way)).replaceAll("</", "<\\/");
  origin.page("/still", "<p>Still</p>");
  origin.page(
    "/",
    `${bundle("markup")}<iframe src="/still"></iframe><script>
      const frame = document.createElement("iframe");
      frame.srcdoc = ${literal("srcdoc")};
      document.body.append(frame);
      onload = () => {
        const { document: written } = frames[0];
        written.open();
        written.write(${literal("written")});
        written.close();
      };
    </script>`,
  );
  await app.goto(`${origin.origin}/`);
  // These go a longer way.
  const behind = () => otherOrigin.requestsTo("/behind").map(({ url }) => url.split("?")[1]);
  await expect.poll(() => behind().sort()).toEqual(["markup", "srcdoc", "written"]);
  expect(otherOrigin.requestsTo("/bundle")).toEqual([]);
});

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
  for (const path of ["/still", "/other"]) origin.page(path, "<p>Still</p>");
  await app.goto(`${origin.origin}/`);
  const content = await app.content();
  for (const attributes of [
    { src: "/.ropeway/boot" },
    { src: "/.ropeway/frame?url=x" },
    { srcdoc: "<p>x" },
    { sandbox: "allow-same-origin", src: "/other" },
  ]) {
    const left = await content.evaluate(async (given) => {
      const element = document.createElement("iframe");
      const loaded = () => new Promise((resolve) => element.addEventListener("load", resolve, { once: true }));
      element.src = "/still";
      document.body.append(element);
      const frame = window[window.length - 1] as Window;
      await loaded();
      for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
      await loaded();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return ["RTCPeerConnection", "WebTransport", "cookieStore"].filter((name) => name in frame);
    }, attributes);
    expect(left, JSON.stringify(attributes)).toEqual([]);
  }
});

import { expect, it, vi } from "vitest";
import type { ResponseConsumer } from "../../shared/http/exchange.ts";
import { encodeSocketPart } from "../../shared/http/socket-records.ts";
import type { PageToSocket, SocketToPage } from "../messages/socket-messages.ts";
import { PageSockets } from "./page-sockets.ts";

it("gives back all that came while the page took nothing, once it takes more", async () => {
  let consumer: ResponseConsumer | undefined;
  const sockets = new PageSockets({
    open(_head, _body, of) {
      consumer = of;
      return new Promise(() => {});
    },
    hasLink: () => true,
    setTimer: () => () => {},
  });
  const [page, life] = [new MessageChannel(), new MessageChannel()];
  const heard: SocketToPage[] = [];
  page.port1.onmessage = ({ data }: MessageEvent<SocketToPage>) => heard.push(data);
  const asked = { type: "socket", url: "wss://a.example/", protocols: [], port: page.port2, life: life.port2 } as const;
  sockets.connect(asked, { origin: "https://a.example", topLevelOrigin: "https://a.example" });
  const message = { kind: "binary", bytes: new Uint8Array(300_000), isLast: true } as const;
  const isBack: boolean[] = [];
  // Whoever brings them does not wait for one before the next: they come as far as credit lets them.
  for (let count = 0; count < 3; count++) {
    for (const part of encodeSocketPart(message)) {
      const index = isBack.push(false) - 1;
      void Promise.resolve(consumer?.onBody(part)).then(() => {
        isBack[index] = true;
      });
    }
  }
  await vi.waitFor(() => expect(heard).toHaveLength(3));
  expect(isBack).toContain(false);
  for (let count = 0; count < 3; count++)
    page.port1.postMessage({ type: "taken", bytes: 300_000 } satisfies PageToSocket);
  await vi.waitFor(() => expect(isBack).not.toContain(false));
  page.port1.close();
  life.port1.close();
});

it("refuses the 65th of an origin, the 129th of what pages of an origin hold, and the 193rd of the window, until another is over", async () => {
  const ports: MessagePort[] = [];
  let asked = 0;
  const sockets = new PageSockets({
    open() {
      asked += 1;
      return new Promise(() => {});
    },
    hasLink: () => true,
    setTimer: () => () => {},
  });
  /** @returns the end of the page's life, and all that it hears. */
  const connect = (site: string, topLevelSite = site) => {
    const [page, life] = [new MessageChannel(), new MessageChannel()];
    ports.push(page.port1, life.port1);
    const heard: SocketToPage[] = [];
    page.port1.onmessage = ({ data }: MessageEvent<SocketToPage>) => heard.push(data);
    sockets.connect(
      { type: "socket", url: `wss://${site}/`, protocols: [], port: page.port2, life: life.port2 },
      { origin: `https://${site}`, topLevelOrigin: `https://${topLevelSite}` },
    );
    return { heard, leave: () => life.port1.postMessage(0) };
  };
  const refused = [{ type: "failed", message: "Cannot open a socket: too many are open" }];
  const [first, second] = Array.from({ length: 64 }, () => connect("a.example"));
  const ofOrigin = connect("a.example");
  await vi.waitFor(() => expect(ofOrigin.heard).toEqual(refused));
  // As a frame elsewhere it has as many again.
  for (let count = 0; count < 64; count++) connect("a.example", "b.example");
  for (let count = 0; count < 64; count++) connect("b.example");
  first?.leave();
  await vi.waitFor(() => {
    // There is room, and not for them.
    connect("c.example", "b.example");
    expect(asked).toBe(192);
    connect("a.example");
    expect(asked).toBe(193);
  });
  const ofPhone = connect("c.example");
  await vi.waitFor(() => expect(ofPhone.heard).toEqual(refused));
  second?.leave();
  await vi.waitFor(() => {
    const next = connect("c.example");
    expect(asked, JSON.stringify(next.heard)).toBe(194);
  });
  const again = connect("c.example");
  await vi.waitFor(() => expect(again.heard).toEqual(refused));
  for (const port of ports) port.close();
});

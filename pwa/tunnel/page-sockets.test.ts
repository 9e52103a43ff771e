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

/** A phone's object with several sockets of one session, in workerd: PROTOCOL.md sections 4.4 and 4.5. */
import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Attachment } from "../../shared/mux/pipe/channel.ts";
import { CLOSED_NORMALLY, END_OF_LINK } from "../../shared/subprotocol.ts";
import { statusOf } from "../../shared/testing/mux/channel-status.ts";
import type { Transport } from "../../shared/transport.ts";
import {
  attachmentsOf,
  closing,
  type Device,
  openSocket,
  pairDevice,
  untilIdle,
} from "../testing/object-device.workerd.ts";
import { PhoneSession } from "../testing/phone-session.ts";

const A = "http://a.example";

interface Channel {
  readonly socket: WebSocket;
  readonly attachment: Attachment;
}

class ObjectPhone extends PhoneSession {
  readonly channels = new Map<number, Channel>();

  async connect(token: string, index: number): Promise<void> {
    const socket = await openSocket(token);
    const transport: Transport = {
      send(message) {
        socket.send(message);
        return true;
      },
      close: (code, reason) => socket.close(code, reason),
    };
    this.session.experiment = { channels: Math.max(index + 1, ...this.channels.keys()) };
    const attachment = this.session.channels.attach(index, transport);
    socket.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") attachment.receive(new Uint8Array(data as ArrayBuffer));
    });
    socket.addEventListener("close", () => attachment.detach());
    this.channels.set(index, { socket, attachment });
  }

  /** As the app ends the socket of a channel that does not pay any more. */
  async retire(index: number): Promise<void> {
    const { socket, attachment } = this.#channel(index);
    this.session.channels.beginRetirement(index);
    const closed = closing(socket);
    socket.send(END_OF_LINK);
    expect(await closed).toBe(CLOSED_NORMALLY);
    attachment.detach();
    expect(this.session.channels.retire(index, true)).toBe(true);
  }

  /** The socket goes without the edge's consent. */
  lose(index: number): void {
    const { socket, attachment } = this.#channel(index);
    attachment.detach();
    socket.close(3000, "lost");
  }

  #channel(index: number): Channel {
    const channel = this.channels.get(index);
    if (channel === undefined) throw new Error(`Cannot use channel ${index}: it has no socket`);
    this.channels.delete(index);
    return channel;
  }
}

async function phoneWith(channels: number): Promise<ObjectPhone & Device> {
  const device = await pairDevice();
  const phone = Object.assign(new ObjectPhone("Sleeper/1"), device);
  await phone.connect(device.token, 0);
  await phone.fetch(A);
  for (let index = 1; index < channels; index += 1) await phone.connect(device.token, index);
  return phone;
}

/** On each channel, several times, so that heads come from the tables of before. */
async function useAll(phone: ObjectPhone): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    const requests = [...phone.channels.keys()].map((index) =>
      phone.fetch(`${A}/${index}?${round}`, { headers: [["x-round", String(round)]] }),
    );
    for (const { head, text } of await Promise.all(requests)) {
      expect(text).toBe("Sleeper/1");
      expect(head.headers).toContainEqual(["x-answer", `?${round}`]);
    }
  }
  expect(phone.ended).toBeNull();
}

const usedChannels = (phone: ObjectPhone): number =>
  statusOf(phone.session).filter(({ isAttached, messagesUp }) => isAttached && messagesUp > 1).length;

async function sleep(phone: ObjectPhone & Device): Promise<void> {
  await untilIdle(phone);
  await evictDurableObject(phone.stub, { webSockets: "hibernate" });
}

beforeEach(() => {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const { url, headers } = input as Request;
    return new Response(headers.get("user-agent"), { headers: { "x-answer": new URL(url).search } });
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("several sockets of a session", () => {
  it("survive hibernation together, again and again", async () => {
    const phone = await phoneWith(4);
    for (let life = 0; life < 4; life += 1) {
      await useAll(phone);
      expect(await attachmentsOf(phone)).toHaveLength(4);
      await sleep(phone);
    }
    await useAll(phone);
    expect(usedChannels(phone)).toBe(4);
  });

  it("survive it without one that was ended before, which is opened anew", async () => {
    const phone = await phoneWith(3);
    await useAll(phone);
    await phone.retire(1);
    await sleep(phone);
    await useAll(phone);
    expect(usedChannels(phone)).toBe(2);
    await sleep(phone);
    await phone.connect(phone.token, 1);
    await useAll(phone);
    await sleep(phone);
    await useAll(phone);
    expect(usedChannels(phone)).toBe(3);
  });

  it("wake the object for the end of one", async () => {
    const phone = await phoneWith(3);
    await useAll(phone);
    await sleep(phone);
    await phone.retire(2);
    await sleep(phone);
    await useAll(phone);
    await phone.connect(phone.token, 2);
    await useAll(phone);
    expect(usedChannels(phone)).toBe(3);
  });

  it.each([0, 1, 2])("lose that of channel %d while the object sleeps, and it is resumed", async (index) => {
    const phone = await phoneWith(3);
    await useAll(phone);
    await sleep(phone);
    phone.lose(index);
    await vi.waitFor(async () => expect(await attachmentsOf(phone)).toHaveLength(2), 20_000);
    await phone.connect(phone.token, index);
    await useAll(phone);
    expect(usedChannels(phone)).toBe(3);
    await sleep(phone);
    await useAll(phone);
  });

  it("keep the object awake while one is lost", async () => {
    const phone = await phoneWith(3);
    await useAll(phone);
    phone.lose(2);
    await vi.waitFor(async () => expect(await attachmentsOf(phone)).toEqual([null, null]), 20_000);
    await useAll(phone);
    expect(await attachmentsOf(phone)).toEqual([null, null]);
    await phone.connect(phone.token, 2);
    await sleep(phone);
    await useAll(phone);
    expect(usedChannels(phone)).toBe(3);
  });
});

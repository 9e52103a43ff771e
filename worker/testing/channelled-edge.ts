import type { ServerResponse } from "../../shared/http/exchange.ts";
import { bodyOf, responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { statusOf } from "../../shared/testing/mux/channel-status.ts";
import { settle } from "../../shared/testing/turns.ts";
import { ChannelledPhone } from "./channelled-phone.ts";
import { rememberingEdge } from "./remembering-edge.ts";

export const A = "https://a.example";

export const hello = async (): Promise<ServerResponse> => ({ head: responseHead, body: bodyOf("hello") });

export function setUp(handle: () => Promise<ServerResponse> = hello) {
  const state = { isActive: false, requests: 0 };
  const edge = rememberingEdge({
    handle: () => {
      state.requests += 1;
      return handle();
    },
    onActive: (isActive) => {
      state.isActive = isActive;
    },
  });
  return { ...edge, state };
}

export type Edge = ReturnType<typeof setUp>;

export async function connected(edge: Edge, channels: number): Promise<ChannelledPhone> {
  const phone = new ChannelledPhone("Phone/7");
  for (let index = 0; index < channels; index += 1) {
    phone.connect(edge.server, index);
    await settle(2);
  }
  return phone;
}

/** A request on each channel, twice, so that the second head comes from the table. */
export async function useAll(phone: ChannelledPhone): Promise<string[]> {
  const texts: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    const requests = [...phone.wires].map((_, number) => phone.fetch(`${A}/${number}`, { headers: [["x-a", "b"]] }));
    texts.push(...(await Promise.all(requests)).map(({ text }) => text));
  }
  await settle();
  return texts;
}

export const hasSnapshots = (edge: Edge, phone: ChannelledPhone): boolean[] =>
  [...phone.wires.values()].map(({ transport }) => (edge.snapshots.get(transport) ?? null) !== null);

export const usedChannels = (phone: ChannelledPhone): number =>
  statusOf(phone.session).filter(({ messagesUp }) => messagesUp > 1).length;

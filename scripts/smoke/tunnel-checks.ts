/** What a paired phone gets of a deployment. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeviceList } from "../../shared/devices.ts";
import { DOWN_PATH, PROTOCOL_FIELD, SOCKET_FIELD } from "../../shared/fetch-road/record.ts";
import * as limits from "../../shared/limits.ts";
import { DEVICES_PATH, KEEP_ALIVE, offeredProtocols, SUBPROTOCOL, TUNNEL_PATH } from "../../shared/subprotocol.ts";
import { PendingTransport } from "../../shared/transport.ts";
import { concat, encodePadding } from "../../shared/wire/frame.ts";
import { PhoneSession } from "../../worker/testing/phone-session.ts";
import { openTunnelSocket, pairPhone, TestPhone } from "../../worker/testing/test-phone.ts";
import { type Answer, ask, askToUpgrade, firstBytes, resolvable } from "./ask.ts";
import { type Check, expectThat, type Findings, SmokeFault, type SmokeSettings } from "./check.ts";
import { restingPhone } from "./resting-phone.ts";

/** Has pictures, is small, and will be there in ten years. */
const PUBLIC_PAGE = "https://en.wikipedia.org/wiki/Aerial_tramway";

/** Milliseconds: Cloudflare takes an object out of memory after ten seconds without work, and servers close idle sockets. */
const REST_TIME = 15_000;
/** Milliseconds in which a response that nobody holds back has begun. */
const STREAM_PATIENCE = 5_000;
/** Milliseconds that a keep-alive may take. */
const ECHO_PATIENCE = 5_000;
/** Milliseconds that a page on a socket that had been at rest may take. */
const WAKING_PATIENCE = 10_000;

export const tunnelChecks: readonly Check[] = [
  { name: "pairing", needs: ["health", "strangers"], run: checkPairing },
  { name: "websocket", needs: ["pairing"], run: checkWebSocket },
  { name: "first message", needs: ["websocket"], run: checkFirstMessage },
  { name: "keep-alive", needs: ["websocket"], run: checkKeepAlive },
  { name: "page", needs: ["websocket"], run: checkPage },
  { name: "push", needs: ["page"], run: checkPush },
  { name: "resume", needs: ["page"], run: checkResume },
  { name: "fetch road", needs: ["pairing"], run: checkFetchRoad },
  { name: "rest", needs: ["page"], run: checkRest },
];

async function checkPairing({ accessKey }: SmokeSettings, found: Findings): Promise<string> {
  found.token = await pairPhone(resolvable(found.origin), accessKey).catch((error: Error) => {
    const isRefused = error.message.startsWith("Cannot pair: ");
    throw new SmokeFault(
      `No phone can be paired: ${error.message.replace("Cannot pair: ", "")}`,
      isRefused
        ? "Use the key of this edge (npm run deploy keeps it in .ropeway/deployed-access-key); after many wrong ones, wait a minute"
        : "Try again; if this machine alone trusts the certificate, name its authority in NODE_EXTRA_CA_CERTS",
    );
  });
  return "one phone, for this test";
}

async function checkWebSocket(settings: SmokeSettings, found: Findings): Promise<string> {
  const answer = await offerTunnel(found, null);
  expectThat(
    answer.status === 101,
    `WebSockets do not get through: the handshake is answered by ${answer.status}`,
    answer.status === 403
      ? "Let what is in front of the edge pass the Host field on as the browser sent it"
      : "Let what is in front of the edge pass the fields Upgrade and Connection on (HTTP/1.1 towards the edge)",
  );
  expectThat(
    answer.headers["sec-websocket-protocol"] === SUBPROTOCOL,
    "The handshake's answer does not name its protocol, so every browser gives the socket up",
    "Let what is in front of the edge pass Sec-WebSocket-Protocol on, both ways",
  );
  expectThat(
    answer.headers["sec-websocket-extensions"] === undefined,
    "Something in front of the edge compresses WebSocket messages, which are compressed already",
    "Turn permessage-deflate off there",
  );
  // It says nothing more until the last check.
  found.resting = await restingPhone(resolvable(found.origin), tokenOf(found), pageOf(settings, found)).catch(
    () => null,
  );
  return "open";
}

async function checkFirstMessage(_: SmokeSettings, found: Findings): Promise<string> {
  const answer = await offerTunnel(found, longOpening());
  expectThat(
    answer.status === 101,
    `A long handshake is answered by ${answer.status}, so that each start costs a round trip more`,
    "Let what is in front of the edge pass request header fields of 4 KiB (nginx: large_client_header_buffers 4 8k)",
  );
  return "first requests ride in the handshake";
}

async function checkKeepAlive(_: SmokeSettings, found: Findings): Promise<string> {
  const socket = await openTunnelSocket(resolvable(found.origin), tokenOf(found), "websocket");
  const start = performance.now();
  const heard = new Promise<boolean>((resolve) => {
    socket.onMessage = (message) => resolve(message === KEEP_ALIVE);
  });
  socket.send(KEEP_ALIVE);
  const isAnswered = await Promise.race([heard, sleep(ECHO_PATIENCE, false)]);
  socket.close();
  expectThat(
    isAnswered,
    "Messages on the open socket are not answered",
    "See the edge's log, and whether something in front of it holds WebSocket messages back",
  );
  return `round trip ${Math.round(performance.now() - start)} ms`;
}

async function checkPage(settings: SmokeSettings, found: Findings): Promise<string> {
  const url = pageOf(settings, found);
  return withPhone(found, "websocket", async (phone) => {
    const start = performance.now();
    const { head, body } = await fetchPage(phone, url);
    expectThat(
      head.status === 200 && body.length > 0,
      `The edge gets ${head.status} for ${url}`,
      "Give another page: --page https://…",
    );
    return `${new URL(head.url).host}, ${kilobytes(body.length)} in ${Math.round(performance.now() - start)} ms`;
  });
}

async function checkPush(settings: SmokeSettings, found: Findings): Promise<string> {
  const url = pageOf(settings, found);
  return withPhone(found, "websocket", async (phone) => {
    phone.askForPushes();
    await fetchPage(phone, url);
    expectThat(
      phone.pushes.length > 0,
      `The edge sends nothing ahead of what ${url} will ask for`,
      "Give a page with pictures (--page https://…); if it has some, deploy again",
    );
    const outcomes = await Promise.allSettled(phone.pushes.map(({ response }) => response));
    const whole = outcomes.filter(({ status }) => status === "fulfilled").length;
    expectThat(whole > 0, "Nothing of what the edge announces arrives", "See the edge's log");
    return `${whole} files before they were asked for`;
  });
}

async function checkResume(settings: SmokeSettings, found: Findings): Promise<string> {
  const url = pageOf(settings, found);
  return withPhone(found, "websocket", async (phone) => {
    await fetchPage(phone, url);
    const wanted = phone.fetch(url);
    wanted.catch(() => {});
    phone.cut("phone");
    await phone.connect();
    const isThere = await wanted.then(
      ({ head }) => head.status === 200,
      () => false,
    );
    expectThat(
      isThere && phone.ended === null,
      "A phone that lost its link does not find its session again",
      "Let all sockets of a phone lead to the same edge: run one, or choose it by the phone's address in front",
    );
    return "a cut download went on";
  });
}

async function checkFetchRoad(settings: SmokeSettings, found: Findings): Promise<string> {
  const url = new URL(TUNNEL_PATH + DOWN_PATH, found.origin);
  const headers = {
    [PROTOCOL_FIELD]: offeredProtocols(tokenOf(found), null).join(", "),
    [SOCKET_FIELD]: randomBytes(16).toString("base64url"),
  };
  const { status, bytes } = await firstBytes(
    url,
    { method: "POST", headers },
    settings.streamPatience ?? STREAM_PATIENCE,
  );
  expectThat(
    bytes !== null,
    "Something in front of the edge holds answers back until they end, so networks without WebSocket get nothing",
    "Turn buffering of responses off there (nginx: proxy_buffering off)",
  );
  expectThat(
    status === 200 && bytes.includes(SUBPROTOCOL),
    `The fetch road is answered by ${status}`,
    "Let POST requests to /.ropeway/tunnel/… lead to the edge",
  );
  return withPhone(found, "fetch", async (phone) => {
    const { head } = await fetchPage(phone, pageOf(settings, found));
    return `a page without WebSocket: ${head.status}`;
  });
}

async function checkRest(settings: SmokeSettings, { resting, ...found }: Findings): Promise<string> {
  expectThat(resting !== null, "No second phone could connect", "Try again; then see the edge's log");
  const { phone, since } = resting;
  await sleep(Math.max(0, since + (settings.restTime ?? REST_TIME) - performance.now()));
  const start = performance.now();
  const seconds = Math.round((start - since) / 1000);
  const isThere = await Promise.race([
    phone.fetch(pageOf(settings, { resting, ...found })).then(
      ({ head }) => head.status === 200,
      () => false,
    ),
    sleep(WAKING_PATIENCE, false),
  ]);
  expectThat(
    isThere && phone.closedBy === null,
    `A socket that says nothing for ${seconds} seconds is ${phone.closedBy === null ? "silent" : "ended"} afterwards`,
    "Let what is in front of the edge keep idle WebSockets for two minutes or more (nginx: proxy_read_timeout 120s)",
  );
  return `after ${seconds} s without a word, an answer in ${Math.round(performance.now() - start)} ms`;
}

/** The test's phone is unpaired, and its cookies go. @returns what stays, for a person. */
export async function tidyUp(found: Findings): Promise<string> {
  found.resting?.phone.close();
  if (found.token === null) return "nothing";
  const headers = { authorization: `Bearer ${found.token}` };
  const list = await ask(new URL(DEVICES_PATH, found.origin), { headers }).catch(() => null);
  const { devices } = (list?.status === 200 ? JSON.parse(list.text) : { devices: [] }) as DeviceList;
  const own = devices.find(({ isThis }) => isThis);
  const url = new URL(`${DEVICES_PATH}/${own?.id}?cookies`, found.origin);
  const unpaired = own && (await ask(url, { method: "DELETE", headers }).catch(() => null));
  return unpaired?.status === 204
    ? "nothing"
    : "one paired phone, which nobody has the token of: unpair it in the settings";
}

function tokenOf({ token }: Findings): string {
  return token ?? "";
}

function pageOf({ page }: SmokeSettings, { demoUrl }: Findings): string {
  return page ?? (demoUrl === null ? PUBLIC_PAGE : new URL("/150/", demoUrl).href);
}

function offerTunnel(found: Findings, opening: Uint8Array | null): Promise<Answer> {
  return askToUpgrade(new URL(TUNNEL_PATH, found.origin), {
    connection: "Upgrade",
    upgrade: "websocket",
    origin: found.origin,
    "sec-websocket-version": "13",
    "sec-websocket-key": randomBytes(16).toString("base64"),
    "sec-websocket-protocol": offeredProtocols(tokenOf(found), opening).join(", "),
    "sec-websocket-extensions": "permessage-deflate",
  });
}

/** The head of a session, filled up to what a phone sends at most. */
function longOpening(): Uint8Array {
  const { session } = new PhoneSession();
  const transport = new PendingTransport();
  session.channel.attach(transport);
  session.channel.flush();
  const begin = transport.takeOpening(limits.openingBytes) ?? new Uint8Array(0);
  return concat(begin, encodePadding(limits.openingBytes - begin.length));
}

async function withPhone<Result>(
  found: Findings,
  road: "websocket" | "fetch",
  use: (phone: TestPhone) => Promise<Result>,
): Promise<Result> {
  const phone = new TestPhone(resolvable(found.origin), tokenOf(found), { road });
  try {
    await phone.connect();
    return await use(phone);
  } finally {
    phone.close();
  }
}

function fetchPage(phone: TestPhone, url: string): ReturnType<TestPhone["fetch"]> {
  return phone.fetch(url).catch((error: Error) => {
    throw new SmokeFault(
      `The edge cannot get ${url}: ${error.message}`,
      "See whether the edge reaches the internet, or give another page: --page https://…",
    );
  });
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1000)} KB`;
}

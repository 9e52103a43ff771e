/**
 * Entry for Deno: binds the router to Deno's server and sockets. A process (or isolate) keeps the sessions of its
 * phones in memory; cookies and the log of sent requests go to Deno KV where it is there (Deno Deploy, or
 * `--unstable-kv`).
 */

import { eTag, ifNoneMatch } from "@std/http/etag";
import { contentType } from "@std/media-types/content-type";
import { extname } from "@std/path/extname";
import { epochClock, setTimer } from "../../shared/clock.ts";
import * as limits from "../../shared/limits.ts";
import { CLOSED_NORMALLY, parseOffer, SUBPROTOCOL } from "../../shared/subprotocol.ts";
import { PendingTransport } from "../../shared/transport.ts";
import { ListKeeper, sharedBlocker } from "../blocking/tracker-blocker.ts";
import { createEdgeHandler, SentLog, type SiteData } from "../delivery/edge-handler.ts";
import { SharedParts } from "../delivery/shared-parts.ts";
import { DeviceDirectory } from "../devices/device-directory.ts";
import { answerPhone, OwnDevice } from "../devices/phone-door.ts";
import { type EdgeOptions, EdgeSettings, readListening, startAdvice } from "../front/edge-settings.ts";
import { deploymentHosts } from "../front/hosts.ts";
import { assetFile, createRouter } from "../front/router.ts";
import { FetchRoad } from "../session/fetch-road.ts";
import { BoundedSocket, hear, TunnelServer } from "../session/tunnel-server.ts";
import { SharedResponses } from "../shared-cache/shared-responses.ts";
import { openStore } from "./kv-store-deno.ts";
import { openSharedCache } from "./shared-cache-deno.ts";
import { HANDSHAKE_TIME } from "./socks-server-deno.ts";
import { createDenoUpstream } from "./upstream-deno.ts";

const APP_DIRECTORY = new URL("../../dist/app", import.meta.url);

const PACKAGES = new URL("../../node_modules/", import.meta.url);
const compile = async (path: string) => WebAssembly.compile(await Deno.readFile(new URL(path, PACKAGES)));

const options: EdgeOptions = {
  ...setting("ROPEWAY_ACCESS_KEY"),
  ...setting("ROPEWAY_HOST"),
  ...setting("ROPEWAY_SLOT_HOSTS"),
  ...setting("ROPEWAY_ALLOW_PRIVATE"),
  ...setting("ROPEWAY_SHARED_CACHE"),
  ...setting("ROPEWAY_BEHIND_PROXY"),
  ...setting("ROPEWAY_BLOCK_LISTS"),
  ...setting("ROPEWAY_PLAN"),
  ...setting("ROPEWAY_KNOWN_HOSTS"),
  ...setting("ROPEWAY_DEMO_URL"),
  ...setting("ROPEWAY_DEMO_ORIGINS"),
};
const store = await openStore(Deno.env.get("ROPEWAY_KV_PATH")).catch(fail);
const parts = new SharedParts({
  zstd: await compile("@bokuweb/zstd-wasm/dist/esm/zstd.wasm"),
  codecs: async () => ({
    avifEncoder: await compile("@jsquash/avif/codec/enc/avif_enc.wasm"),
    jpegDecoder: await compile("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
    pngDecoder: await compile("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
    webpEncoder: await compile("@jsquash/webp/codec/enc/webp_enc_simd.wasm"),
  }),
  ...epochClock,
});
const phones = new Map<string, Phone>();
const directory = new DeviceDirectory({
  accessKey: options.ROPEWAY_ACCESS_KEY ?? "",
  store: store.directory,
  deviceOf: (deviceId) => phoneOf(deviceId).device,
  now: epochClock.now,
});
const addresses = new WeakMap<Request, string>();

const app = createRouter<EdgeOptions>({
  async serveAsset(path, _env, request) {
    const name = assetFile(path);
    const file =
      name === null ? null : new URL(name.split("/").map(encodeURIComponent).join("/"), `${APP_DIRECTORY.href}/`);
    const found = file && (await Deno.stat(file).catch(() => null));
    if (!file || !found?.isFile) return new Response(null, { status: 404 });
    const etag = (await eTag(found)) ?? "";
    const headers = {
      etag,
      "cache-control": "public, max-age=0, must-revalidate",
      "content-type": contentType(extname(file.pathname)) ?? "application/octet-stream",
    };
    if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    return new Response(await Deno.readFile(file), { headers });
  },
  async askPhone(deviceId, _env, request) {
    const phone = phoneOf(deviceId);
    phone.requests++;
    return answerPhone(request, {
      accessKey: options.ROPEWAY_ACCESS_KEY ?? "",
      device: phone.device,
      directory,
      roads: {
        openSocket: (handshake) => openSocket(handshake, phone),
        answerFetchRoad: (asked) => phone.fetchRoad.answer(asked),
      },
    }).finally(() => {
      phone.requests--;
    });
  },
  pair: (request) => directory.pair(request),
  peerAddress: (request) => addresses.get(request) ?? null,
});

const settings = new EdgeSettings(options);
const { tls, ...address } = await readSettings().catch(fail);
const { plan, blockLists } = settings;
const lists = new ListKeeper({
  store: store.blockLists,
  urls: blockLists,
  fetch,
  now: epochClock.now,
  log: console.error,
});
const trackers = blockLists.length === 0 ? null : sharedBlocker(() => lists.compiled(), epochClock);
const { port } = listen();
const shared = settings.sharesCache
  ? new SharedResponses({
      cache: openSharedCache(`ropeway-${address.hostname}:${port}`),
      ...epochClock,
    })
  : null;
console.log(`Listening on ${address.hostname}, port ${port}`);
for (const line of startAdvice(options, address.hostname)) console.error(line);

/** Requests come once this script is through. */
function listen(): Deno.NetAddr {
  try {
    const server = Deno.serve(
      {
        ...address,
        ...(tls === null ? {} : { cert: tls.certificate, key: tls.key }),
        automaticCompression: true,
        onListen: () => {},
      },
      (request, { remoteAddr }) => {
        if (remoteAddr.transport === "tcp") addresses.set(request, remoteAddr.hostname);
        return app.fetch(request, options);
      },
    );
    return server.addr;
  } catch (error) {
    const { hostname, port } = address;
    const why = (error as Error).message;
    return fail(new Error(`Cannot listen on ${hostname}, port ${port}: ${why}; see ROPEWAY_IP, ROPEWAY_PORT`));
  }
}

/** @throws Error that says what to set instead. */
async function readSettings() {
  const listening = await readListening(options, (name) => Deno.env.get(name), Deno.readTextFile);
  deploymentHosts(options);
  return listening;
}

function fail({ message }: Error): never {
  console.error(message);
  Deno.exit(1);
}

function setting(name: keyof EdgeOptions): Partial<EdgeOptions> {
  const value = Deno.env.get(name);
  return value === undefined || value === "" ? {} : { [name]: value };
}

/** State that a device's sockets share. */
interface Phone {
  readonly server: TunnelServer;
  readonly siteData: SiteData;
  readonly device: OwnDevice;
  readonly fetchRoad: FetchRoad;
  /** Requests that are being answered. */
  requests: number;
  sockets: number;
  /** Sockets that were given up with what is queued on them: Deno keeps it until their connections end. */
  stuckSockets: number;
}

function phoneOf(deviceId: string): Phone {
  const known = phones.get(deviceId);
  if (known !== undefined) return known;
  for (const [id, phone] of phones) {
    const { requests, sockets, stuckSockets, server, fetchRoad } = phone;
    const isQuiet = requests + sockets + stuckSockets === 0 && fetchRoad.size === 0 && server.sessionCount === 0;
    if (isQuiet) phones.delete(id);
  }
  const backend = createDenoUpstream(options, store.forDevice(deviceId), shared);
  const dictionaries = parts.dictionaries(store.bodiesOf(deviceId));
  const sentLog = new SentLog(store.sentLogOf(deviceId), epochClock.now);
  const server = new TunnelServer({
    handle: createEdgeHandler(backend, { sentLog, dictionaries, trackers }),
    trackers,
    dictionaries: plan.codesAgainst ? dictionaries : null,
    images: parts.images(plan.recodesPictures),
    names: plan.marksReads ? parts.names : null,
    pushes: plan.pushes,
    onActive: (active) => {
      if (!active) void device.settle().catch(() => {});
    },
    onUsed: (bytes) => device.used(bytes),
    ...epochClock,
    gathers: true,
  });
  const device = new OwnDevice({
    store: store.recordsOf(deviceId),
    directory,
    now: epochClock.now,
    isConnected: () => server.isConnected,
    disconnect: (why) => server.close(why),
    forgetPages: () => dictionaries.forget(),
    clearSites: () => backend.siteData.clear(),
  });
  const fetchRoad = new FetchRoad({
    connect: (transport) => server.connect(transport),
    isUnread: () => server.isUnread,
    isFirst: (name) => sentLog.isFirst(name),
    onClosed: () => storeAll(phone),
    ...epochClock,
  });
  const phone: Phone = {
    server,
    device,
    siteData: backend.siteData,
    fetchRoad,
    requests: 0,
    sockets: 0,
    stuckSockets: 0,
  };
  phones.set(deviceId, phone);
  return phone;
}

/** A change that cannot be stored now is stored with the next one. */
function storeAll({ siteData, device }: Phone): void {
  void Promise.allSettled([siteData.flush(), device.settle()]);
}

function openSocket(request: Request, phone: Phone): Response {
  if (phone.server.isUnread || phone.stuckSockets >= limits.fetchSocketsPerPhone) {
    return Response.json(
      { error: "Cannot open a tunnel: this phone does not read what it asked for" },
      { status: 429 },
    );
  }
  const { opening } = parseOffer(request.headers.get("sec-websocket-protocol") ?? "");
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
  // Its option `protocol` takes an offer only as browsers write it: separated by comma and space.
  response.headers.set("sec-websocket-protocol", SUBPROTOCOL);
  socket.binaryType = "arraybuffer";
  let isStuck = false;
  const transport = new BoundedSocket(socket, () => {
    isStuck = true;
    phone.stuckSockets++;
    end(false);
  });
  phone.sockets++;
  // The socket opens once the handshake has been answered; the edge speaks before.
  const pending = new PendingTransport();
  const connection = phone.server.connect(pending);
  let isOver = false;
  function end(isOrderly: boolean): void {
    if (isOver) return;
    isOver = true;
    cancelWait();
    phone.sockets--;
    connection.closed(isOrderly);
    storeAll(phone);
  }
  // Deno says nothing at all of a socket whose client went before its handshake was answered.
  const cancelWait = setTimer(() => end(false), HANDSHAKE_TIME);
  socket.onopen = () => {
    cancelWait();
    if (isOver) transport.close(CLOSED_NORMALLY, "opened too late");
    else pending.open(transport);
  };
  socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
    if (isStuck) return;
    hear(connection, transport, typeof event.data === "string" ? event.data : new Uint8Array(event.data));
  };
  // Follows an error too.
  socket.onclose = ({ code, wasClean }) => {
    if (isStuck) phone.stuckSockets--;
    isStuck = false;
    end(wasClean && code === CLOSED_NORMALLY);
  };
  // Requests in it are on their way to their origins while the answer to the handshake is on its way to the phone.
  if (opening !== null) connection.receive(opening);
  return response;
}

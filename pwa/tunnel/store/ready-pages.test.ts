import { beforeEach, expect, it } from "vitest";
import { ErrorCode, RopewayError } from "../../../shared/errors.ts";
import type { ScriptCookie } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import type { Ask } from "../exchange/exchange.ts";
import { readyPages, storedPicture } from "./questions.ts";
import { FRESH, type OriginAnswer, page, SITE, STALE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

const cookie: ScriptCookie = {
  name: "a",
  value: "1",
  domain: "a.example",
  hostOnly: true,
  path: "/",
  secure: false,
  expires: null,
};
const TOLD: OriginAnswer = { status: 204, scriptCookies: [cookie] };

let phone: TestPhone;
/** The next run of the app. */
let window: TestWindow;

beforeEach(async () => {
  phone = new TestPhone();
  const former = phone.open();
  await former.get(page, { headers: FRESH, body: "<p>" });
  await former.get({ ...page, url: `${SITE}/stale` }, { headers: STALE, body: "<p>" });
  await former.get({ ...page, url: `${SITE}/secret` }, { headers: [["cache-control", "no-store"]], body: "<p>" });
  await former.stored(page);
  await former.stored({ ...page, url: `${SITE}/stale` });
  window = phone.open();
  await window.store.opened;
});

function ready(urls: readonly string[], answer: OriginAnswer = TOLD): Promise<void> {
  const ask: Ask = ({ head }, consumer) => window.begin(head, consumer, answer);
  return readyPages(ask, () => phone.disk.raw(), window.source.parts, urls);
}

const urlsAsked = () => window.asked.map(({ url }) => url);

it("lets a fresh page be shown with nobody asked, with the cookies of now", async () => {
  await ready([`${SITE}/#part`, `${SITE}/`]);
  expect(window.asked).toMatchObject([
    { url: EdgeRequest.SCRIPT_COOKIES, method: "GET", origin: SITE, headers: [["document-url", `${SITE}/`]] },
  ]);
  const shown = await window.get(page);
  expect([shown.isAsked, shown.text, shown.head?.scriptCookies]).toEqual([false, "<p>", [cookie]]);
});

it("asks nothing for pages that are stale, not stored, or whose cookies are known", async () => {
  await ready([`${SITE}/stale`, `${SITE}/secret`, "https://b.example/", "no URL", ""]);
  expect(urlsAsked()).toEqual([]);
  await ready([`${SITE}/`]);
  await ready([`${SITE}/`]);
  expect(urlsAsked()).toEqual([EdgeRequest.SCRIPT_COOKIES]);
});

it("has the page ask where the edge is of a former release", async () => {
  const refusal = new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", "Cannot answer GET");
  await ready([`${SITE}/`], { fails: refusal });
  expect((await window.get(page, { ...TOLD, status: 304 })).isAsked).toBe(true);
});

const put = {
  url: EdgeRequest.SCRIPT_COOKIE,
  method: "PUT",
  origin: SITE,
  headers: [
    ["document-url", `${SITE}/`],
    ["cookie-string", "a=2"],
  ] as const,
};

it.each([
  ["an answer brought others", () => window.get({}, { scriptCookies: [{ ...cookie, value: "2" }] })],
  ["a script of another window set one", () => phone.open().get(put, { status: 204 })],
  ["a script set one", () => window.get(put, { status: 204 })],
  ["a request to the site was lost", () => window.get({}, { fails: new RopewayError(0, "stream", "peer", "gone") })],
])("has the page ask where %s before the edge's answer came", async (_, happens) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const told = ready([`${SITE}/`], { ...TOLD, until: promise });
  await expect.poll(urlsAsked).toEqual([EdgeRequest.SCRIPT_COOKIES]);
  await happens();
  resolve();
  await told;
  expect((await window.get(page, { ...TOLD, status: 304 })).isAsked).toBe(true);
});

it("takes the cookies of a document that was quicker", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const told = ready([`${SITE}/`], { ...TOLD, until: promise });
  await expect.poll(urlsAsked).toEqual([EdgeRequest.SCRIPT_COOKIES]);
  const newer = { ...cookie, value: "2" };
  await window.get({ ...page, cache: "no-cache" }, { headers: FRESH, body: "<p>", scriptCookies: [newer] });
  resolve();
  await told;
  expect((await window.get(page)).head?.scriptCookies).toEqual([newer]);
});

it("gives a picture that a page has loaded, however it asked, and nobody is asked for it", async () => {
  const ofOther = "https://pictures.example/boat.png";
  const how = { origin: SITE, mode: "cors", credentials: "same-origin", destination: "image" } as const;
  const crossorigin = { ...page, ...how, url: ofOther };
  await window.get(crossorigin, { headers: [...FRESH, ["access-control-allow-origin", "*"]], body: "boat" });
  await window.stored(crossorigin);
  const asked = window.asked.length;
  const look = async (url: string, topLevelOrigin = SITE) =>
    (await storedPicture(window.source.parts, { kind: "picture", url, topLevelOrigin }))?.text();
  expect(await look(ofOther)).toBe("boat");
  expect(await look(`${SITE}/none`)).toBeUndefined();
  expect(await look(`${SITE}/secret`)).toBeUndefined();
  // Another site has not loaded it.
  expect(await look(ofOther, "https://other.example")).toBeUndefined();
  expect(window.asked).toHaveLength(asked);
});

import { beforeEach, expect, it } from "vitest";
import type { RequestHead } from "../../../shared/http/heads.ts";
import { EdgeRequest } from "../../../shared/subprotocol.ts";
import { ConsumerLog } from "../../../shared/testing/http/exchange-rig.ts";
import { page, SITE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let window: TestWindow;

beforeEach(() => {
  window = new TestPhone().open();
});

const name = new URL(SITE).hostname;
const urls = () => window.asked.map(({ url }) => url);
const go = (change: Partial<RequestHead>) => window.begin({ ...page, ...change }, new ConsumerLog(), {});
const settle = () => new Promise((resolve) => setTimeout(resolve, 10));

it("a site's documents wait until it is forgotten", async () => {
  for (const _ of "12") window.source.forget({ site: name, isOver: false });
  go({ url: `${SITE}/account` });
  go({ url: `${SITE}/pay`, method: "POST" });
  await settle();
  expect(urls()).toEqual([]);
  window.source.forget({ site: name, isOver: true });
  await settle();
  expect(urls()).toEqual([`${SITE}/account`, `${SITE}/pay`]);
  await window.get({ ...page, url: `${SITE}/next` });
  expect(urls()).toContain(`${SITE}/next`);
});

it("what its pages say when they close does not wait, nor other sites, nor the word to the edge", async () => {
  window.source.forget({ site: name, isOver: false });
  const others: Partial<RequestHead>[] = [
    { url: `${SITE}/goodbye`, mode: "no-cors", method: "POST" },
    { url: "https://other.example/" },
    { url: EdgeRequest.SITE, method: "DELETE", mode: "same-origin", headers: [["host-name", name]] },
  ];
  for (const other of others) await window.get({ ...page, ...other });
  expect(window.asked).toHaveLength(3);
});

it("what nobody waits for any more is not asked for", async () => {
  window.source.forget({ site: name, isOver: false });
  go({ url: `${SITE}/account` }).cancel();
  window.source.forget({ site: name, isOver: true });
  await settle();
  expect(urls()).toEqual([]);
});

import { beforeEach, describe, expect, it } from "vitest";
import { headerValue } from "../../../shared/http/head-fields.ts";
import type { HeaderList } from "../../../shared/http/heads.ts";
import { hashOfBody } from "../../../shared/http/phone-fields.ts";
import { FRESH, page, SITE, TestPhone, type TestWindow } from "./testing/stored-windows.ts";

let phone: TestPhone;
let window: TestWindow;

beforeEach(() => {
  phone = new TestPhone();
  window = phone.open();
});

describe("a body that came again", () => {
  const body = "as before ".repeat(100);
  const name = { hash: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/), size: 1000 };
  const noValidator: HeaderList = [["cache-control", "max-age=0"]];
  const cdn = { url: "https://cdn.example/p.png" };

  it.each([
    ["its own origin", {}],
    ["another origin", cdn],
    ["a document", page],
  ])("of %s is given under the head that came, with nothing of the body sent", async (_, change) => {
    await window.get(change, { headers: noValidator, body });
    const reference = { headers: [...FRESH, ["x-now", "2"]] as HeaderList, isReference: true };
    const got = await window.get(change, reference);
    expect(window.lastAsked?.stored).toEqual(name);
    expect([got.text, got.head?.isReference]).toEqual([body, undefined]);
    expect(headerValue(got.head?.headers ?? [], "x-now")).toBe("2");
    expect(window.source.stats).toMatchObject({ storeReferences: 1, storeReferencedBytes: 1000 });
    expect((await window.get(change)).isAsked).toBe(false);
  });

  it("is not named where an experiment takes that away", async () => {
    await window.get({}, { headers: noValidator, body });
    phone.namesBodies = false;
    await window.get({}, { headers: noValidator, body });
    expect(window.lastAsked?.stored).toBeUndefined();
  });

  it("of another origin is asked about by the validator that its page is not shown", async () => {
    const note: HeaderList = [...noValidator, ["ropeway-etag", '"1"'], ["ropeway-age", "9"]];
    await window.get(cdn, { headers: note, body: "x" });
    const got = await window.get(cdn, { status: 304, headers: FRESH });
    expect(window.lastAsked?.stored).toEqual({ ...name, size: 1, validator: '"1"' });
    expect(window.lastAsked?.headers).toEqual([]);
    expect([got.text, got.head?.status]).toEqual(["x", 200]);
    expect((await window.get(cdn)).isAsked).toBe(false);
    phone.time += 61_000;
    await window.get(cdn, { headers: [...noValidator, ["ropeway-last-modified", "Sat"]], body });
    expect(window.lastAsked?.stored?.validator).toBe('"1"');
    await window.get(cdn, { headers: noValidator, body });
    expect(window.lastAsked?.stored).toEqual({ ...name, validator: "Sat" });
  });

  it.each(["script", "image"] as const)(
    "under a new name is given from the old one, and stored under its own: %s",
    async (destination) => {
      const script = (name: string) => ({ url: `${SITE}/${name}`, destination });
      await window.get(script("app.123.js"), { headers: FRESH, body });
      await window.stored(script("app.123.js"));
      for (const renamed of ["app.4f6.js", "app.4f6.js?v=2"]) {
        const got = await window.get(script(renamed), { headers: FRESH, isReference: true });
        expect(window.lastAsked?.stored).toEqual(name);
        expect([got.text, got.head?.url]).toEqual([body, `${SITE}/${renamed}`]);
        if (renamed === "app.4f6.js") {
          await window.stored(script(renamed));
          expect((await window.get(script(renamed))).isAsked).toBe(false);
          await window.store.remove((await window.store.index(`${SITE} ${SITE}`)).find(`${SITE}/app.123.js`));
        }
      }
    },
  );

  it("is the newest where several of that name are stored, of pictures only where that was the one before, too", async () => {
    async function namedAfter(destination: "image" | "script", ...bodies: string[]): Promise<string | undefined> {
      const file = (version: number) => ({ url: `${SITE}/${destination}.${version}.x`, destination }) as const;
      for (const [version, text] of bodies.entries()) {
        await window.get(file(version), { headers: FRESH, body: text });
        await window.stored(file(version));
        phone.time += 1000;
      }
      await window.get(file(bodies.length), { headers: [["cache-control", "no-store"]], body: "other" });
      return window.lastAsked?.stored?.hash;
    }
    const hashOf = (text: string) => hashOfBody(new TextEncoder().encode(text));
    const other = body.toUpperCase();
    expect(await namedAfter("script", body, other)).toBe(await hashOf(other));
    expect(await namedAfter("image", body, other)).toBeUndefined();
    expect(await namedAfter("image", body, other, other)).toBe(await hashOf(other));
  });

  it("is named under no other name for nobody else's, nor where names have nothing to do with each other", async () => {
    const file = (name: string, from = SITE) => ({ url: `${from}/${name}`, destination: "script" }) as const;
    await window.get(file("app.1.js"), { headers: FRESH, body });
    const others = [
      file("lib.3.js"),
      file("app.3.css"),
      file("app.3.js", "https://cdn.example"),
      { ...file("app.3.js"), destination: "" },
      { ...file("app.3.js"), credentials: "omit" },
    ] as const;
    for (const other of others) {
      await window.get(other, { headers: [["cache-control", "no-store"]], body });
      expect(window.lastAsked).not.toHaveProperty("stored");
    }
    const elsewhere = { ...file("y.1.js", "https://cdn.example"), credentials: "omit" } as const;
    await window.get(elsewhere, { headers: FRESH, body });
    await window.get({ ...elsewhere, url: "https://cdn.example/y.2.js" }, { headers: FRESH, body });
    expect(window.lastAsked).not.toHaveProperty("stored");
  });

  it("is named to an edge that codes against it for a new page of its site, as no body that may come again", async () => {
    const html: HeaderList = [...FRESH, ["content-type", "text/html"]];
    const long = body.repeat(2);
    window = phone.open(true);
    await window.get(page, { headers: html, body: long });
    await window.stored(page);
    const next = { ...page, url: `${SITE}/next` };
    const got = await window.get(next, { headers: html, body: "another" });
    expect(window.lastAsked?.stored).toMatchObject({ ...name, size: 0 });
    expect(got.text).toBe("another");
    await window.get({ ...next, origin: "https://evil.example" }, { headers: html, body: "another" });
    expect(window.lastAsked).not.toHaveProperty("stored");
  });

  it("goes from the store where it is not to be kept, and to the page all the same", async () => {
    await window.get({}, { headers: noValidator, body });
    const reference = { headers: [["cache-control", "no-store"]] as HeaderList, isReference: true };
    expect((await window.get({}, reference)).text).toBe(body);
    await window.get({}, { body: "new" });
    expect(window.lastAsked).not.toHaveProperty("stored");
  });

  it("is asked for whole where the phone has lost it meanwhile", async () => {
    await window.get({}, { headers: noValidator, body });
    await window.stored();
    await (await phone.disk.raw()).clear("blocks");
    const got = await window.get({}, [{ isReference: true }, { body: "whole" }]);
    expect([got.text, window.lastAsked?.stored]).toEqual(["whole", undefined]);
  });

  it("is not named where it was another the last time, is short, or a part of it is asked for", async () => {
    await window.get({}, { headers: noValidator, body });
    await window.get({}, { headers: noValidator, body: body.toUpperCase() });
    expect(window.lastAsked?.stored).toEqual(name);
    expect((await window.get({}, { headers: noValidator, body })).text).toBe(body);
    expect(window.lastAsked).not.toHaveProperty("stored");
    await window.get({}, { headers: noValidator, body: "short" });
    expect(window.lastAsked?.stored).toEqual(name);
    for (const headers of [[], [["range", "bytes=0-1"]]] as HeaderList[]) {
      await window.get({ headers }, { headers: noValidator, body });
      expect(window.lastAsked).not.toHaveProperty("stored");
    }
  });

  it("is named for its own page and credentials alone", async () => {
    await window.get(cdn, { headers: noValidator, body });
    for (const change of [
      { origin: "https://b.example" },
      { topLevelOrigin: "https://b.example" },
      { credentials: "omit" },
    ] as const) {
      await window.get({ ...cdn, ...change }, { headers: noValidator, body });
      expect(window.lastAsked).not.toHaveProperty("stored");
    }
  });
});

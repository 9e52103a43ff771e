import { describe, expect, it } from "vitest";
import { FrameStarts } from "./slot-port.ts";

const TOP = "https://top.example";
const guest = { origin: "https://guest.example", topLevelOrigin: TOP };
const start = { referrer: `${TOP}/`, initiator: TOP };

describe("FrameStarts", () => {
  it("knows who sent a slot's frame to a URL, also when it is asked for again", () => {
    const starts = new FrameStarts();
    starts.add(guest, "https://guest.example/a", start);
    for (const _ of [1, 2]) expect(starts.find(guest, "https://guest.example/a")).toEqual(start);
    expect(starts.find(guest, "https://guest.example/b")).toBeNull();
    expect(starts.find({ ...guest, topLevelOrigin: "https://other.example" }, "https://guest.example/a")).toBeNull();
  });

  it("keeps the latest only", () => {
    const starts = new FrameStarts();
    for (let number = 0; number < 1_000; number++) starts.add(guest, `https://guest.example/${number}`, start);
    expect(starts.find(guest, "https://guest.example/999")).toEqual(start);
    expect(starts.find(guest, "https://guest.example/0")).toBeNull();
  });

  it("drops no form of another page's, however many one sends", () => {
    const [quiet, loud] = [TOP, "https://loud.example"].map((origin) => ({
      origin,
      topLevelOrigin: origin,
      topLevel: true,
    }));
    const url = "https://guest.example/form";
    const form = { url, destination: "frame", headers: [], body: null } as const;
    const starts = new FrameStarts();
    if (quiet === undefined || loud === undefined) return;
    starts.keep(quiet, "1", form);
    for (let number = 0; number < 100; number++) starts.keep(loud, String(number), form);
    expect(starts.takeForm({ url, form: { name: "1", from: quiet } })).toBe(form);
    expect(starts.takeForm({ url, form: { name: "91", from: loud } })).toBeNull();
    expect(starts.takeForm({ url, form: { name: "92", from: loud } })).toBe(form);
  });

  it("gives a form once, to the slot that it was kept for, and for its address", () => {
    const from = { origin: TOP, topLevelOrigin: TOP, topLevel: true };
    const url = "https://guest.example/form";
    const form = { url, destination: "frame", headers: [["content-type", "text/plain"]], body: null } as const;
    const starts = new FrameStarts();
    starts.keep(from, "1", form);
    expect(starts.takeForm({ url, form: { name: "2", from } })).toBeNull();
    expect(starts.takeForm({ url, form: { name: "1", from: { ...guest, topLevel: false } } })).toBeNull();
    expect(starts.takeForm({ url: `${url}?other`, form: { name: "1", from } })).toBeNull();
    expect(starts.takeForm({ url })).toBeNull();
    expect(starts.takeForm({ url, form: { name: "1", from } })).toBe(form);
    expect(starts.takeForm({ url, form: { name: "1", from } })).toBeNull();
  });
});

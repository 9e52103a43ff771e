import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HELD_RESPONSE_TIME } from "../../messages/port-messages.ts";
import { type Asked, fakeExchange } from "../testing/fake-exchange.ts";
import { answerSubresource, savingWorker } from "./subresource.ts";

const ORIGIN = "https://example.org";
const SLOT = "http://s1.localhost:8787";
const FINAL = `${ORIGIN}/final`;

function fetchOf(path: string, more: Partial<Asked> = {}): Asked {
  return { url: SLOT + path, realUrl: ORIGIN + path, ...more };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("answerSubresource", () => {
  it("answers with status, fields and body", async () => {
    const { exchange, log } = fakeExchange(fetchOf("/a"), {
      url: `${ORIGIN}/a`,
      headers: [["x-a", "1"]],
      body: "text",
    });
    const answer = await answerSubresource(exchange);
    expect([answer.status, answer.headers.get("x-a"), await answer.text()]).toEqual([200, "1", "text"]);
    expect(log).toEqual(["send", "finish"]);
  });

  it.each(["GET", "POST"])(
    "sends the browser of a redirected %s to the final address and answers there",
    async (method) => {
      const first = fakeExchange(fetchOf("/moved", { method }), { url: FINAL, body: "moved text" });
      const redirect = await answerSubresource(first.exchange);
      expect(redirect.status).toBe(303);
      const location = redirect.headers.get("location") ?? "";
      expect(location.split("#")[0]).toBe(`${SLOT}/final`);
      expect(first.log).toEqual(["send"]);

      const second = fakeExchange({ url: location, realUrl: FINAL });
      expect(await (await answerSubresource(second.exchange)).text()).toBe("moved text");
      expect(second.log).toEqual(["finish"]);
      expect(first.log).toEqual(["send", "finish"]);
    },
  );

  it.each([
    ["post(1)", "{SAVES}post(1)"],
    ["/* a */ // b\n'use strict'\npost(1)", `/* a */ // b\n"use strict";{SAVES}'use strict'\npost(1)`],
    ["#!/bin/node\npost(1)", "#!/bin/node\n{SAVES}post(1)"],
    ["/* open", "{SAVES}/* open"],
  ])("tells a worker with the script %j that the person saves data", async (script, expected) => {
    const worker = fetchOf("/w.js", { destination: "worker", mode: "same-origin" });
    const answer = await answerSubresource(fakeExchange(worker, { url: `${ORIGIN}/w.js`, body: script }).exchange);
    const saving = await savingWorker(answer);
    expect(saving.headers.get("content-type")).toBe(answer.headers.get("content-type"));
    expect((await saving.text()).replace(/\{const.*configurable.*?\}\)\}/, "{SAVES}")).toBe(expected);
  });

  it("gives a redirected response to nobody else", async () => {
    const first = fakeExchange(fetchOf("/moved"), { url: FINAL, body: "first" });
    await answerSubresource(first.exchange);
    const other = fakeExchange({ url: `${SLOT}/final`, realUrl: FINAL }, { url: FINAL, body: "other" });
    expect(await (await answerSubresource(other.exchange)).text()).toBe("other");
  });

  it("keeps tokens out of the URLs that scripts see as theirs", async () => {
    const script = { destination: "script", mode: "no-cors" } as const;
    const first = fakeExchange(fetchOf("/moved.js", script), { url: `${ORIGIN}/final.js`, body: "1" });
    expect((await answerSubresource(first.exchange)).headers.get("location")).toBe(`${SLOT}/final.js`);
    const second = fakeExchange({ url: `${SLOT}/final.js`, realUrl: `${ORIGIN}/final.js`, ...script });
    expect(await (await answerSubresource(second.exchange)).text()).toBe("1");
  });

  it("cancels what the browser does not come back for", async () => {
    const { exchange, log } = fakeExchange(fetchOf("/moved"), { url: FINAL });
    await answerSubresource(exchange);
    await vi.advanceTimersByTimeAsync(HELD_RESPONSE_TIME);
    expect(log).toEqual(["send", "cancel", "finish"]);
  });

  it("answers an image where it was asked for", async () => {
    const { exchange } = fakeExchange(fetchOf("/a", { destination: "image", mode: "no-cors" }), {
      url: FINAL,
      body: "x",
    });
    expect((await answerSubresource(exchange)).status).toBe(200);
  });

  it.each([
    ["another site", "https://b.example/x", "https://b.example/x"],
    ["a redirect to another site", `${ORIGIN}/x`, "https://b.example/x"],
  ])("tells a script's no-cors request nothing of %s", async (_what, realUrl, finalUrl) => {
    const asked = { url: realUrl, realUrl, mode: "no-cors" } as const;
    const { exchange, log } = fakeExchange(asked, {
      url: finalUrl,
      status: 404,
      headers: [["x-a", "1"]],
      body: "secret",
    });
    const answer = await answerSubresource(exchange);
    expect([answer.status, [...answer.headers], await answer.text()]).toEqual([200, [], ""]);
    expect(log).toEqual(["send", "cancel", "finish"]);
  });

  it("lets elements load from other sites", async () => {
    const realUrl = "https://b.example/x.png";
    const asked = { url: realUrl, realUrl, mode: "no-cors", destination: "image" } as const;
    const { exchange } = fakeExchange(asked, { url: realUrl, body: "pixels" });
    expect(await (await answerSubresource(exchange)).text()).toBe("pixels");
  });
});

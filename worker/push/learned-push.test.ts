import { describe, expect, it } from "vitest";
import { knownUrls, type LearnedRequest, sayLearned } from "../../shared/http/phone-fields.ts";
import { settle } from "../../shared/testing/turns.ts";
import { type Circumstances, load, requestsFor, urlsFor } from "./testing/push-rig.ts";

const SITE = "https://site.example";
const fetched = (url: string, change: Partial<LearnedRequest> = {}): LearnedRequest => ({
  url,
  destination: "",
  mode: "cors",
  credentials: "same-origin",
  accept: "*/*",
  ...change,
});
const said = (...learned: LearnedRequest[]) => sayLearned(learned, `${SITE}/dir/page`) ?? "";
const asking = (...learned: LearnedRequest[]) => ({ request: { learned: said(...learned) } });

describe("what the phone has learned of a page", () => {
  it("is asked for as scripts of that page would, behind what its markup names by then", () => {
    const image = fetched("https://cdn.example/a", { destination: "image", mode: "no-cors", credentials: "include" });
    const circumstances = asking(fetched(`${SITE}/api/1`), { ...image, accept: "" });
    expect(requestsFor("<!doctype html><script src=/app.js></script><p>", circumstances)).toMatchObject([
      { url: `${SITE}/app.js` },
      {
        url: `${SITE}/api/1`,
        headers: [["accept", "*/*"]],
        destination: "",
        mode: "cors",
        credentials: "same-origin",
        redirect: "follow",
        referrer: `${SITE}/dir/page?q`,
        origin: SITE,
        topLevelOrigin: SITE,
      },
      { url: "https://cdn.example/a", headers: [["accept", expect.stringContaining("image/avif")]] },
    ]);
  });

  it("waits until the head's policies are read, and obeys them", () => {
    const policy = (value: string) => `<meta http-equiv=content-security-policy content="${value}">`;
    const learned = asking(fetched(`${SITE}/api`), fetched("https://evil.example/"));
    const rig = load(learned);
    rig.write("<!doctype html><head><title>Page</title>");
    expect(rig.asked).toEqual([]);
    rig.write(`${policy("connect-src 'self'")}</head>`);
    expect(rig.asked.map(({ head }) => head.url)).toEqual([`${SITE}/api`]);
    const headers = [["content-security-policy", "default-src 'none'"]] as const;
    expect(urlsFor("<p>", { ...learned, headers })).toEqual([]);
    expect(urlsFor("<p>", { ...learned, headers: [["content-security-policy", "sandbox"]] })).toEqual([]);
  });

  it("is not asked for behind a password, which a push would not have", () => {
    const learned = said(fetched(`${SITE}/api`));
    const headers = [["authorization", "Basic YTpi"]] as const;
    expect(urlsFor("<p><script src=/app.js></script>", { request: { learned, headers } })).toEqual([]);
  });

  it("is asked for once, whatever was delivered before, and is lacking whatever has its hash", () => {
    const script = fetched(`${SITE}/kept`, { destination: "script", mode: "no-cors", credentials: "include" });
    const request = { learned: said(script, script), known: knownUrls([`${SITE}/kept`]) };
    expect(urlsFor("<p><script src=/kept></script>", { request })).toEqual([`${SITE}/kept`]);
  });

  it("is not asked for where the document came from another origin, nor by fetch() of mode same-origin", () => {
    const learned = asking(fetched(`${SITE}/api`));
    expect(urlsFor("<p>", { ...learned, response: { url: "https://other.example/" } })).toEqual([]);
    expect(urlsFor("<p>", asking(fetched("https://other.example/", { mode: "same-origin" })))).toEqual([]);
  });

  it("is asked for at once where the document has not changed, as far as that answer's policies let it", () => {
    const response = { status: 304 };
    const learned = asking(fetched(`${SITE}/api`), fetched("https://other.example/"));
    const asked = (change: Circumstances) =>
      load({ ...learned, response, ...change }).asked.map(({ head }) => head.url);
    expect(asked({})).toEqual([`${SITE}/api`, "https://other.example/"]);
    expect(asked({ response: { ...response, headers: [["content-security-policy", "connect-src 'self'"]] } })).toEqual([
      `${SITE}/api`,
    ]);
    expect(asked({ response: { ...response, redirected: true } })).toEqual([]);
    expect(asked({ request: { method: "HEAD" } })).toEqual([]);
  });

  it("stops with the document", async () => {
    const rig = load({ ...asking(fetched(`${SITE}/api`)), answer: () => new Promise(() => {}) });
    rig.write("<p>");
    rig.abort.abort();
    await settle();
    expect(rig.asked.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

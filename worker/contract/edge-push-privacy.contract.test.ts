/** What others can tell of a phone's pushes, and of what it has learned: nothing, by what they get or by how much. */
import { describe, expect, it } from "vitest";
import { noise, until } from "../testing/contract.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";
import { pairPhone, TestPhone } from "../testing/test-phone.ts";

/** Bytes: heads of messages and what header compression remembers; each body is ten times that. */
const TOLERATED = 300;
const BODY = noise(3_000);

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);

  async function newPhone(): Promise<TestPhone> {
    const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
    await phone.connect();
    phone.askForPushes();
    return phone;
  }

  /** Pages name the picture that is in their query; all that is no page is a body of the same length. */
  function originOf(ip: string, site = ""): Promise<string> {
    return edge.originOf(({ url = "" }, response) => {
      const [path, name] = url.split("?");
      if (path === "/away") return void response.writeHead(302, { location: `${other}/page?${name}` }).end();
      const isPage = path?.startsWith("/page") === true;
      const type = isPage ? "text/html" : "image/gif";
      const body = isPage ? `<!doctype html><script></script><img src="${site}/${name}">` : BODY;
      response.writeHead(200, { "content-type": type, "cache-control": "private, max-age=600" });
      response.end(isPage ? body : Buffer.concat([Buffer.from("GIF89a"), BODY]));
    }, ip);
  }
  let other = "";

  /** Paths of what a page had pushed, and bytes of all that came for it. */
  async function visit(phone: TestPhone, url: string, learned?: string) {
    const [bytes, pushes] = [phone.receivedBytes, phone.pushes.length];
    await phone.fetch(url, learned === undefined ? {} : { learned });
    await until(() => phone.pushes.length > pushes);
    const pushed = phone.pushes.slice(pushes);
    await Promise.all(pushed.map(({ response }) => response));
    return {
      pushed: pushed.map(({ request }) => new URL(request.url).pathname).sort(),
      bytes: phone.receivedBytes - bytes,
    };
  }

  it("tells another phone nothing of where the first was, and what scripts asked for there", async () => {
    const site = await originOf("127.0.0.1");
    const first = await newPhone();
    const learned = '[["","cors","same-origin","","/learned"]]';
    expect((await visit(first, `${site}/page-1?a.gif`, learned)).pushed).toEqual(["/a.gif", "/learned"]);
    const [second, third] = [await newPhone(), await newPhone()];
    const known = await visit(second, `${site}/page-1?a.gif`);
    const unknown = await visit(third, `${site}/page-2?b.gif`);
    expect([known.pushed, unknown.pushed]).toEqual([["/a.gif"], ["/b.gif"]]);
    expect(Math.abs(known.bytes - unknown.bytes)).toBeLessThan(TOLERATED);
    for (const phone of [first, second, third]) await phone.close();
  });

  it("tells another origin on the same phone nothing of what was pushed to a site", async () => {
    const site = await originOf("127.0.0.1");
    other = await originOf("127.0.0.7", site);
    const phone = await newPhone();
    // What every page has: header compression knows the origin.
    await visit(phone, `${other}/page?0.gif`);
    await visit(phone, `${site}/page?1.gif`);
    const known = await visit(phone, `${other}/page?1.gif`);
    const unknown = await visit(phone, `${other}/page?2.gif`);
    expect([known.pushed, unknown.pushed]).toEqual([["/1.gif"], ["/2.gif"]]);
    expect(Math.abs(known.bytes - unknown.bytes)).toBeLessThan(TOLERATED);
    // The site's own page is not sent what it has.
    const again = await phone.fetch(`${site}/page?1.gif`);
    const count = phone.pushes.length;
    await visit(phone, `${site}/page?3.gif`);
    expect([again.head.status, phone.pushes.length]).toEqual([200, count + 1]);
    await phone.close();
  });

  it("asks another origin, to which a redirect leads, for nothing that was learned of the first", async () => {
    const site = await originOf("127.0.0.1");
    other = await originOf("127.0.0.7", site);
    const phone = await newPhone();
    const learned = '[["","cors","same-origin","","/learned"]]';
    const { pushed } = await visit(phone, `${site}/away?1.gif`, learned);
    expect(pushed).toEqual(["/1.gif"]);
    expect(phone.pushes).toHaveLength(1);
    await phone.close();
  });
});

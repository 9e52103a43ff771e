import { createHash } from "node:crypto";
import { type IncomingHttpHeaders, type RequestOptions, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PICTURE_BYTES, PICTURE_COUNT } from "./hundred-fifty.ts";
import { type Demo, startDemo } from "./start-demo.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Asks the one listener for any of its hosts, whose names need not resolve here. */
function ask(demo: Demo, address: string, options: RequestOptions = {}, body = ""): Promise<Answer> {
  const { host, pathname, search } = new URL(address);
  const [ip, port] = demo.address.split(":");
  return new Promise((resolve, reject) => {
    const headers = { host, ...options.headers };
    request({ host: ip, port, path: pathname + search, ...options, headers }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) });
    })
      .on("error", reject)
      .end(body);
  });
}

describe("startDemo", () => {
  let demo: Demo;

  beforeAll(async () => {
    demo = await startDemo({ ip: "127.0.0.1", port: 0 });
  });
  afterAll(() => demo.close());

  it("serves 150 different pictures of exactly 1,517 bytes", async () => {
    const page = (await ask(demo, `${demo.hosts.demo}/150/`)).body.toString();
    const names = [...page.matchAll(/src="(tile-\d+\.png)"/g)].map(([, name]) => name);
    const hashes = new Set<string>();
    for (const name of names) {
      const picture = (await ask(demo, `${demo.hosts.demo}/150/${name}`)).body;
      expect(picture.length).toBe(PICTURE_BYTES);
      expect(picture.subarray(1, 4).toString()).toBe("PNG");
      hashes.add(createHash("sha256").update(picture).digest("hex"));
    }
    expect(hashes.size).toBe(PICTURE_COUNT);
  });

  it("links everything on the newspaper's pages to something that exists", async () => {
    const seen = new Set<string>();
    const waiting = [`${demo.hosts.news}/`];
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      if (seen.has(url)) continue;
      seen.add(url);
      const { status, headers, body } = await ask(demo, url);
      expect(`${status} ${url}`).toBe(`200 ${url}`);
      if (!headers["content-type"]?.startsWith("text/html")) continue;
      for (const [, link = ""] of body.toString().matchAll(/(?:href|src)="([^"#]+)"/g)) {
        if (!link.startsWith("data:")) waiting.push(new URL(link, url).href);
      }
    }
    expect(seen.size).toBeGreaterThan(25);
  });

  it("answers 304 to a browser that has the file", async () => {
    const { headers } = await ask(demo, `${demo.hosts.static}/site.css`);
    const again = await ask(demo, `${demo.hosts.static}/site.css`, {
      headers: { "if-none-match": headers.etag ?? "" },
    });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  it("redirects the newsletter form with 303", async () => {
    const body = new URLSearchParams({ email: "a+b@example.net" }).toString();
    const { status, headers } = await ask(demo, `${demo.hosts.news}/newsletter`, { method: "POST" }, body);
    expect([status, headers.location]).toEqual([303, "/newsletter?to=a%2Bb%40example.net"]);
  });

  it("keeps comments and escapes what a search asked for", async () => {
    const path = `${demo.hosts.news}/api/comments/tide-clock`;
    const comment = JSON.stringify({ name: "Tess", text: "Neat <b>" });
    expect((await ask(demo, path, { method: "POST" }, comment)).status).toBe(201);
    const list = JSON.parse((await ask(demo, path)).body.toString()) as { name: string; text: string }[];
    expect(list.at(-1)).toMatchObject({ name: "Tess", text: "Neat <b>" });
    const query = encodeURIComponent("<i>gull");
    const found = (await ask(demo, `${demo.hosts.news}/search?q=${query}`)).body.toString();
    expect(found).toContain("&lt;i&gt;gull");
    expect(found).not.toContain("<i>gull");
  });

  it("answers what does not exist with 404 and broken comments with 400", async () => {
    expect((await ask(demo, `${demo.hosts.news}/article/none`)).status).toBe(404);
    expect((await ask(demo, `${demo.hosts.images}/photo/none-360.png`)).status).toBe(404);
    const broken = await ask(demo, `${demo.hosts.news}/api/comments/tide-clock`, { method: "POST" }, "{");
    expect(broken.status).toBe(400);
  });

  it("takes the absolute URLs that a proxy is asked with", async () => {
    const { body } = await ask(demo, demo.url, { path: `${demo.hosts.news}/section/town` });
    expect(body.toString()).toContain("<title>Town");
  });
});

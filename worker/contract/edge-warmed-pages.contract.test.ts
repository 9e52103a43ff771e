/** What the edge asks for before anybody follows a link, on whatever it runs. */
import { brotliCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";

const PAGE = `<!doctype html><title>Next</title><script>console.log(location.host)</script>${"<p>What comes next</p>".repeat(200)}`;

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);

  it("brings a page as a stranger gets it, and none where robots.txt forbids it or the site knows the phone", async () => {
    const seen: string[] = [];
    const origin = await edge.originOf((request, response) => {
      seen.push(`${request.url} ${request.headers.cookie ?? "-"} ${request.headers["sec-purpose"] ?? "-"}`);
      expect(request.headers.referer).toBeUndefined();
      if (request.url === "/robots.txt") return void response.end("User-agent: *\nDisallow: /private");
      if (request.url === "/elsewhere") return void response.writeHead(302, { location: "/next" }).end();
      const cookie = request.url === "/login" || request.url === "/greets" ? { "set-cookie": "who=me; HttpOnly" } : {};
      const body = request.url === "/login" ? Buffer.from("in") : brotliCompressSync(PAGE);
      const coding = request.url === "/login" ? {} : { "content-encoding": "br" };
      response.writeHead(200, { "content-type": "text/html", "content-length": body.length, ...coding, ...cookie });
      response.end(body);
    });
    const phone = await edge.connectedPhone("websocket");
    const warm = async (path: string, marks = {}) => {
      const head = { ...scriptFetch(origin), mode: "same-origin", credentials: "omit", redirect: "error" } as const;
      const headers = [["document-url", origin + path]] as const;
      const { head: response, text } = await phone.fetch(EdgeRequest.WARMED_PAGE, { ...head, ...marks, headers });
      return `${response.status} ${text === PAGE ? "page" : text}`;
    };
    expect(await warm("/next")).toBe("200 page");
    expect(await warm("/next", { marksReads: true })).toMatch(/^200 .*ropeway\$\(location,ropeway\$\)\.host/s);
    for (const path of ["/private", "/elsewhere", "/greets"]) expect(await warm(path), path).toBe("204 ");
    const prefetched = ["/next", "/next", "/elsewhere", "/greets"].map((path) => `${path} - prefetch`);
    expect(seen).toEqual(["/robots.txt - -", ...prefetched]);

    await phone.fetch(`${origin}/login`);
    expect(await warm("/next")).toBe("204 ");
    expect(seen.slice(5)).toEqual(["/login - -"]);
    await phone.fetch(`${origin}/next`);
    expect(seen.at(-1)).toBe("/next who=me -");
  });
});

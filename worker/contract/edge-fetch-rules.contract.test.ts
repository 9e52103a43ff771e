/** What a browser would do with requests on their way to an origin, by every edge, whatever it runs on. */
import type { IncomingHttpHeaders } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { statusTextOf } from "../../shared/http/head-fields.ts";
import { EdgeRequest } from "../../shared/subprotocol.ts";
import { scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { readAll } from "../testing/contract.ts";
import { edgeOfTests, type OriginListener } from "../testing/edge-of-tests.ts";
import type { TestRequest } from "../testing/phone-session.ts";
import type { TestPhone } from "../testing/test-phone.ts";

describe.each(["workerd", "deno"] as const)("an edge on %s", (runtime) => {
  const edge = edgeOfTests(runtime);

  describe.each(["websocket", "fetch"] as const)("through the tunnel over %s", (road) => {
    let phone: TestPhone;
    beforeAll(async () => {
      phone = await edge.connectedPhone(road);
    });

    it("passes no hop-by-hop fields and none of the edge's network, either way", async () => {
      let seen: IncomingHttpHeaders = {};
      const origin = await edge.originOf((request, response) => {
        seen = request.headers;
        response.writeHead(200, {
          connection: "x-hop, keep-alive",
          "x-hop": "1",
          "keep-alive": "timeout=9",
          "proxy-authenticate": "Basic",
          trailer: "x-later",
          "cf-ray": "1",
          "cf-cache-status": "HIT",
          "set-cookie": "a=b",
          "x-end": "1",
        });
        response.end();
      });
      const { head } = await phone.fetch(`${origin}/`, {
        ...scriptFetch(origin),
        headers: [
          ["connection", "x-hop"],
          ["x-hop", "1"],
          ["keep-alive", "timeout=9"],
          ["te", "trailers"],
          ["upgrade", "h2c"],
          ["proxy-authorization", "Basic eDp5"],
          ["transfer-encoding", "chunked"],
          ["cf-connecting-ip", "192.0.2.1"],
          ["cf-ray", "1"],
          ["x-forwarded-for", "192.0.2.1"],
          ["cookie", "forged=1"],
          ["x-end", "1"],
        ],
      });
      const received = Object.keys(seen);
      const hops = ["x-hop", "keep-alive", "te", "upgrade", "proxy-authorization", "transfer-encoding", "cookie"];
      for (const name of [...hops, "x-forwarded-for"]) expect(received).not.toContain(name);
      expect(received.filter((name) => name.startsWith("cf-"))).toEqual([]);
      expect(seen["x-end"]).toBe("1");
      const names = head.headers.map(([name]) => name);
      for (const name of ["connection", "x-hop", "keep-alive", "proxy-authenticate", "trailer", "set-cookie"]) {
        expect(names).not.toContain(name);
      }
      expect(names.filter((name) => name.startsWith("cf-"))).toEqual([]);
      expect(names).toContain("x-end");
    });

    it("tells origins to save data where the session says so, behind redirects too, with no preflight for that", async () => {
      const asked: [string, unknown][] = [];
      const origin = await edge.originOf(({ method = "", url = "", headers }, response) => {
        asked.push([`${method} ${url}`, headers["save-data"]]);
        const cors = { "access-control-allow-origin": "*", "access-control-allow-headers": "x-own" };
        if (url === "/way") response.writeHead(302, { ...cors, location: "/end" }).end();
        else response.writeHead(200, { ...cors, vary: "save-data", "cache-control": "max-age=60" }).end("text");
      });
      const saving = await edge.connectedPhone(road);
      const cors = { ...scriptFetch("https://other.example"), credentials: "omit" } as const;
      await saving.fetch(`${origin}/end`, cors);
      saving.session.sendSessionHead([["save-data", "on"]]);
      await expect
        .poll(async () => {
          asked.length = 0;
          await saving.fetch(`${origin}/way`, cors);
          return asked;
        })
        .toEqual([
          ["GET /way", "on"],
          ["GET /end", "on"],
        ]);
      asked.length = 0;
      await saving.fetch(`${origin}/end`, { ...cors, headers: [["x-own", "1"]] });
      expect(asked).toEqual([
        ["OPTIONS /end", undefined],
        ["GET /end", "on"],
      ]);
    });

    it("tells the reason phrases of origins to phones that ask for them, also what is stored", async () => {
      const origin = await edge.originOf(({ url = "" }, response) => {
        const [status, phrase = ""] = decodeURIComponent(url.slice(1)).split("=");
        const headers = { "cache-control": "max-age=60", "content-length": "4", "access-control-allow-origin": "*" };
        response.writeHead(Number(status), phrase, headers).end("text");
      });
      const asking = await edge.connectedPhone(road);
      asking.session.sendSessionHead([["sec-ropeway-reasons", "1"]]);
      const toldTo = async (other: TestPhone, line: string, more: TestRequest = scriptFetch(origin)) =>
        statusTextOf((await other.fetch(`${origin}/${encodeURIComponent(line)}`, more)).head);
      const told = (line: string, more?: TestRequest) => toldTo(asking, line, more);
      // Deno's fetch does not say what the origin said, but what is usual for the status.
      const orUsual = (phrase: string, usual: string) => (runtime === "deno" ? usual : phrase);
      expect(await told("200=OK")).toBe("OK");
      expect(await told("200=Fine")).toBe(orUsual("Fine", "OK"));
      expect(await told("404=No Such Thing")).toBe(orUsual("No Such Thing", "Not Found"));
      expect(await told("503=Not Found")).toBe(orUsual("Not Found", "Service Unavailable"));
      expect(await told(`404=${"x".repeat(300)}`)).toBe(orUsual("", "Not Found"));
      const elsewhere = { ...scriptFetch("https://other.example"), credentials: "omit" } as const;
      for (const _ of ["asked", "shared"]) expect(await told("200=Stored", elsewhere)).toBe(orUsual("Stored", "OK"));
      expect(await told("200=Opaque", { ...elsewhere, mode: "no-cors", destination: "image" })).toBe("OK");
      expect(await toldTo(phone, "404=No Such Thing")).toBe("");
    });

    it("follows redirects with their rules for methods", async () => {
      const origin = await edge.originOf((request, response) => {
        readAll(request).then((body) => {
          const status = Number(request.url?.slice(1));
          if (status > 0) response.writeHead(status, { location: "/end" }).end();
          else response.end(`${request.method} ${body} ${request.headers["content-type"] ?? "-"}`);
        }, response.destroy);
      });
      const post = { method: "POST", headers: [["content-type", "text/plain"]] as const };
      const expected = {
        301: "GET  -",
        302: "GET  -",
        303: "GET  -",
        307: "POST x text/plain",
        308: "POST x text/plain",
      };
      for (const [status, text] of Object.entries(expected)) {
        const response = await phone.fetch(`${origin}/${status}`, { ...post, body: "x" });
        expect(response.text, status).toBe(text);
        expect(response.head).toMatchObject({ redirected: true, url: `${origin}/end` });
      }
      const manual = await phone.fetch(`${origin}/302`, { redirect: "manual" });
      expect(manual.head).toMatchObject({ status: 302, redirected: false });
    });

    it("keeps cookies over redirects, and those of scripts, apart by site", async () => {
      const cookies: string[] = [];
      const listener: OriginListener = (request, response) => {
        cookies.push(`${request.url} ${request.headers.cookie ?? ""}`);
        if (request.url === "/in")
          response.writeHead(302, { location: "/home", "set-cookie": ["a=1", "b=2; HttpOnly"] });
        response.end();
      };
      const [origin, other] = [await edge.originOf(listener, "127.0.0.3"), await edge.originOf(listener, "127.0.0.4")];
      const { head } = await phone.fetch(`${origin}/in`);
      expect(head.scriptCookies).toMatchObject([{ name: "a", value: "1", hostOnly: true }]);
      await phone.fetch(EdgeRequest.SCRIPT_COOKIE, {
        ...scriptFetch(origin),
        method: "PUT",
        headers: [
          ["document-url", `${origin}/home`],
          ["cookie-string", encodeURIComponent("c=ü; path=/")],
        ],
      });
      const read = await phone.fetch(EdgeRequest.SCRIPT_COOKIES, {
        ...scriptFetch(origin),
        headers: [["document-url", `${origin}/`]],
      });
      expect(read.head.scriptCookies).toMatchObject([
        { name: "a", value: "1" },
        { name: "c", value: "ü" },
      ]);
      await phone.fetch(`${origin}/again`);
      await phone.fetch(`${origin}/framed`, { ...scriptFetch(other), mode: "no-cors", credentials: "include" });
      const second = await edge.connectedPhone(road);
      await second.fetch(`${origin}/window`);
      await second.fetch(EdgeRequest.SITE_DATA, { ...scriptFetch(origin), origin: null, method: "DELETE" });
      await phone.fetch(`${origin}/cleared`);
      const all = `a=1; b=2; c=${Buffer.from("ü").toString("latin1")}`;
      expect(cookies).toEqual(["/in ", "/home a=1; b=2", `/again ${all}`, "/framed ", `/window ${all}`, "/cleared "]);
    });

    it("asks by a preflight first where a page may not simply send, and denies what the origin denies", async () => {
      const seen: string[] = [];
      const api = await edge.originOf((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers.origin}`);
        if (request.url === "/open") {
          response.setHeader("access-control-allow-origin", String(request.headers.origin));
          response.setHeader("access-control-allow-methods", "PUT");
          response.setHeader("access-control-allow-headers", "x-own");
        }
        response.end("done");
      }, "127.0.0.5");
      const page = "http://127.0.0.6";
      const put = { ...scriptFetch(page), method: "PUT", headers: [["x-own", "1"]] as const };
      expect((await phone.fetch(`${api}/open`, { ...put, body: "x" })).text).toBe("done");
      await expect(phone.fetch(`${api}/closed`, { ...put, body: "x" })).rejects.toMatchObject({ code: 0x27 });
      await expect(phone.fetch(`${api}/read`, scriptFetch(page))).rejects.toMatchObject({ code: 0x27 });
      expect(seen).toEqual([
        `OPTIONS /open ${page}`,
        `PUT /open ${page}`,
        `OPTIONS /closed ${page}`,
        `GET /read ${page}`,
      ]);
    });
  });

  it("has said nothing of keys and tokens", () => edge.expectNoSecretTold());
});

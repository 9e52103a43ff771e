/** What an edge leaves out where its platform's plan gives little: it works without. */
import { describe, expect, it } from "vitest";
import { navigation, scriptFetch } from "../../shared/testing/http/request-heads.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";

describe.each(["workerd", "deno"] as const)("an edge on %s, on a free plan", (runtime) => {
  const edge = edgeOfTests(runtime, { plan: "free" });

  it("shares nothing, and pushes no more of a document than it may fetch at once", async () => {
    const asked: string[] = [];
    const origin = await edge.originOf(({ url = "" }, response) => {
      asked.push(url);
      const images = Array.from({ length: 60 }, (_, index) => `<img src="/${index}.png">`).join("");
      const [type, body] = url === "/page" ? ["text/html", `<!doctype html>${images}`] : ["text/plain", url];
      response.writeHead(200, { "content-type": type, "cache-control": "public, max-age=600" }).end(body);
    });
    const phone = await edge.connectedPhone("websocket");
    phone.askForPushes();
    await phone.fetch(`${origin}/page`, navigation(`${origin}/page`));
    expect(phone.pushes).toHaveLength(24);
    await Promise.all(phone.pushes.map(({ response }) => response));
    for (const _ of "123") await phone.fetch(`${origin}/text`, scriptFetch(origin));
    expect(asked.filter((path) => path === "/text")).toHaveLength(3);
  });
});

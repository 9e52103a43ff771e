import { expect, it } from "vitest";
import { SITE_FIELD } from "../../worker/shared-cache/site-entries.ts";

// Types of workerd and of Node do not go together.
const file = "./cache-worker.ts";
const { default: cache } = (await import(file)) as { default: { fetch(request: Request): Promise<Response> } };

/** A quarter of what there is room for. */
const QUARTER = 16 * 1024 * 1024;

async function put(name: string, site: string, bytes: number): Promise<void> {
  const head = `HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n${SITE_FIELD}: ${site}\r\n\r\n`;
  const body = new Blob([head, new Uint8Array(bytes)]);
  await cache.fetch(new Request(`https://edge.example/${name}`, { method: "PUT", body }));
}

const has = async (name: string) =>
  (await cache.fetch(new Request(`https://edge.example/${name}`))).headers.get("cf-cache-status");

it("makes room in what the site has that has brought most", async () => {
  await put("quiet", "quiet.example", 1000);
  for (let at = 0; at < 6; at++) await put(`loud-${at}`, "loud.example", QUARTER);
  expect(await has("quiet")).toBe("HIT");
  expect(await Promise.all(["loud-0", "loud-2", "loud-3", "loud-5"].map(has))).toEqual(["MISS", "MISS", "HIT", "HIT"]);
});

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type DemoHost, type DemoOrigins, escapeHtml, html, parseCookies, send } from "./demo-host.ts";
import { imagesHost } from "./images-host.ts";
import { indexHost } from "./index-host.ts";
import { newsHost } from "./news-host.ts";
import { staticHost } from "./static-host.ts";

const BODY_LIMIT = 64 * 1024;

export interface Demo {
  /** Address of the demo's index page. */
  readonly url: string;
  /** All origins of the demo. Few systems resolve their names outside a browser: `address` is where they all are. */
  readonly origins: readonly string[];
  readonly hosts: DemoOrigins;
  /** `ip:port` of the one listener. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves the demo on one port: an index and the 150 pictures on `demo.localhost`, and a newspaper on
 * `news.localhost`, `static.news.localhost` and `images.news.localhost`, told apart by the Host field or, as a proxy
 * would be asked, by the absolute URL of the request line.
 *
 * @param port 0 takes a free one.
 * @throws the listening error of node:net when the port is taken.
 */
export async function startDemo({ ip, port }: { ip: string; port: number }): Promise<Demo> {
  const hosts = new Map<string, DemoHost>();
  const server = createServer((request, response) => {
    void answer(request).then((result) => send(request, response, result));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, ip, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = (server.address() as AddressInfo).port;
  const origin = (name: string): string => `http://${name}.localhost:${bound}`;
  const origins: DemoOrigins = {
    demo: origin("demo"),
    news: origin("news"),
    static: origin("static.news"),
    images: origin("images.news"),
  };
  const index = indexHost(origins);
  hosts.set("news.localhost", newsHost(origins));
  hosts.set("static.news.localhost", staticHost());
  hosts.set("images.news.localhost", imagesHost());

  return {
    url: `${origins.demo}/`,
    origins: Object.values(origins),
    hosts: origins,
    address: `${ip}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function answer(request: IncomingMessage): Promise<ReturnType<typeof html>> {
    const url = URL.parse(request.url ?? "/", `http://${request.headers.host ?? "localhost"}`);
    if (url === null) return notFound("");
    const host = hosts.get(url.hostname) ?? index;
    const body = await readBody(request);
    if (body === undefined) return html("<h1>Too much</h1>", 413);
    const method = request.method ?? "GET";
    return host({ method, url, cookies: parseCookies(request.headers.cookie), body }) ?? notFound(url.pathname);
  }
}

function notFound(path: string): ReturnType<typeof html> {
  return html(`<!doctype html><title>Not found</title><h1>Not found</h1><p>Nothing at ${escapeHtml(path)}.</p>`, 404);
}

/** The whole body, or undefined when it is over the limit or the browser went away. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > BODY_LIMIT) return undefined;
      parts.push(part);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(parts);
}

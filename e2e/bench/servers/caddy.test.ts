import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfiguration } from "./caddy.ts";

describe("loadConfiguration", () => {
  let directory: string;
  let server: Server;
  let socket: string;
  let connections = 0;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "ropeway-caddy-"));
    socket = join(directory, "admin.sock");
    connections = 0;
    server = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(request.headers.host === "bench" ? 200 : 403).end("so"));
    });
    server.on("connection", () => connections++);
    await new Promise<void>((resolve) => server.listen(socket, resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  });

  it("never uses a connection again, which Caddy closes with the configuration that it belonged to", async () => {
    for (let time = 0; time < 3; time++) await loadConfiguration(socket, "{}");
    expect(connections).toBe(3);
  });
});

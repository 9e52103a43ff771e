import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { listeningAddresses } from "./listening.ts";

describe("listeningAddresses", () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function takePort(): Promise<number> {
    server = createServer();
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  it("says that the port is taken, and what to do", async () => {
    const port = await takePort();
    await expect(listeningAddresses("127.0.0.1", port)).rejects.toThrow(
      `Cannot listen on 127.0.0.1: port ${port} is in use; end what uses it, or choose another port (ROPEWAY_PORT)`,
    );
  });

  it("says that there is no such address", async () => {
    const ip = "192.0.2.1";
    await expect(listeningAddresses(ip, 8787)).rejects.toThrow(
      `Cannot listen on ${ip}: this machine has no such address; set ROPEWAY_IP to one that it has`,
    );
  });

  it("takes the one address when any port will do", async () => {
    expect(await listeningAddresses("127.0.0.1", 0)).toEqual(["127.0.0.1"]);
  });
});

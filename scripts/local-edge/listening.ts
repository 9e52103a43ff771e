import { createServer } from "node:net";

/** @returns null when the address can be listened on, else the system's error code. */
function probe(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/**
 * The addresses to listen on. Browsers resolve `localhost` to ::1 as well, so that one joins 127.0.0.1 where it can.
 *
 * @throws Error that says which port is taken.
 */
export async function listeningAddresses(ip: string, port: number): Promise<string[]> {
  const problem = await probe(ip, port);
  if (problem === "EADDRINUSE") {
    throw new Error(
      `Cannot listen on ${ip}: port ${port} is in use; end what uses it, or choose another port (ROPEWAY_PORT)`,
    );
  }
  if (problem === "EACCES") {
    throw new Error(`Cannot listen on ${ip}: port ${port} needs more rights; choose one above 1023`);
  }
  if (problem === "ENOTFOUND" || problem === "EADDRNOTAVAIL")
    throw new Error(`Cannot listen on ${ip}: this machine has no such address; set ROPEWAY_IP to one that it has`);
  if (problem !== null) throw new Error(`Cannot listen on ${ip}, port ${port}: ${problem}`);
  if (ip !== "127.0.0.1" || port === 0) return [ip];
  return (await probe("::1", port)) === null ? [ip, "::1"] : [ip];
}

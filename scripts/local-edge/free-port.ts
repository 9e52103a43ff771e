import { createServer } from "node:net";

/** Below those that systems give out by themselves: until it is taken, no other server comes to be on it. */
const [FIRST, COUNT] = [20_000, 12_000];
const ATTEMPTS = 50;

/** A port that nobody listens on, for a process that can only be told a number. */
export async function freePort(host: string): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      return await listenOnce(host, port);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

function listenOnce(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, host, () => server.close(() => resolve(port)));
  });
}

/**
 * To be run sealed (`sealed-network.ts`): connects to everything that an edge on Deno listens on beside its own port, as
 * any other user of the machine could, and asks for a connection as a SOCKS client. Prints what was answered.
 */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { startEdge } from "../../scripts/edge-process.ts";
import { startNameServer } from "./name-server.ts";
import { pairPhone, TestPhone } from "./test-phone.ts";

const LISTENING = "0A";
/** One offer of each: no method but "none at all", then a password. RFC 1928 section 3, RFC 1929 section 2. */
const NO_METHOD = [5, 1, 0];
const WRONG_PASSWORD = [5, 1, 2, 1, 7, ...Buffer.from("ropeway"), 3, ...Buffer.from("abc")];

const nameServer = await startNameServer(() => ["93.184.216.34"]);
const origin = createServer((_, response) => response.end("reached"));
await new Promise<void>((resolve) => origin.listen(80, "::", resolve));
const edge = await startEdge({ runtime: "deno", port: 0, ip: "127.0.0.1" });
const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
await phone.connect();
const { text } = await phone.fetch("http://a.test/");

/** What comes back until the other side closes, in hexadecimal. */
function answerTo(port: number, bytes: readonly number[]): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => {});
    socket.once("close", () => resolve(Buffer.concat(chunks).toString("hex")));
    socket.write(Uint8Array.from(bytes));
  });
}

const table = (await readFile("/proc/net/tcp", "utf8")).split("\n").map((line) => line.trim().split(/\s+/));
const ports = table
  .filter(([, , , state]) => state === LISTENING)
  .map(([, local = ""]) => Number(`0x${local.slice(-4)}`));
const others = ports.filter((port) => port !== Number(new URL(edge.url).port));
const answers: string[][] = [];
for (const port of others) answers.push([await answerTo(port, NO_METHOD), await answerTo(port, WRONG_PASSWORD)]);
console.log(JSON.stringify({ text, answers }));

phone.close();
origin.close();
nameServer.close();
await edge.close();
process.exit();

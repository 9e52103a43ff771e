/**
 * To be run sealed (`sealed-network.ts`), whose mounts nobody else sees: a phone browses while the disk of an edge's state
 * runs full, another one is new to it, then there is room again and the edge starts anew. Argument: an empty directory.
 * Prints what came of it.
 */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startEdge } from "../../scripts/edge-process.ts";
import { until } from "./contract.ts";
import { pairPhone, TestPhone } from "./test-phone.ts";

const [directory = ""] = process.argv.slice(2);
execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "none", directory]);

/** Each path sets a cookie of its own; the answer lists those that came. */
const origin = createServer((request, response) => {
  response.setHeader("set-cookie", `${request.url?.slice(1)}=${"x".repeat(2_000)}; Max-Age=1000`);
  response.end((request.headers.cookie ?? "").replace(/=x+/g, ""));
});
await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;

const log: string[] = [];
const start = (accessKey?: string) =>
  startEdge({
    runtime: "workerd",
    port: 0,
    ip: "127.0.0.1",
    allowPrivate: true,
    stateDirectory: directory,
    log: (line) => log.push(line),
    ...(accessKey === undefined ? {} : { accessKey }),
  });
const open = async (edgeUrl: string, token: string): Promise<TestPhone> => {
  const phone = new TestPhone(edgeUrl, token);
  await phone.connect();
  return phone;
};
const ask = async (phone: TestPhone, path: string) => (await phone.fetch(url + path)).text;

function fillDisk(): void {
  const file = openSync(join(directory, "filler"), "w");
  try {
    for (;;) writeSync(file, Buffer.alloc(512));
  } catch {
    closeSync(file);
  }
}

const isStored = (cookie: string): boolean =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.includes(".sqlite"))
    .some((name) => readFileSync(join(directory, name)).includes(`"${cookie}"`));

const edge = await start();
const token = await pairPhone(edge.url, edge.accessKey);
const phone = await open(edge.url, token);
const answers = [await ask(phone, "/before")];
await until(() => isStored("before"));

fillDisk();
answers.push(await ask(phone, "/full"));
// What closes stores what it has; so does a new socket's end, and this phone's session goes on.
const other = await open(edge.url, token);
answers.push(await ask(other, "/other"));
other.close();
answers.push(await ask(phone, "/later"));
const delivery = { id: "AAAAAAAAAAA", isRepeat: false, continuation: null };
const post = await phone.fetch(`${url}/post`, { method: "POST", delivery }).then(
  () => "sent",
  (error: Error) => error.message,
);
answers.push(await ask(phone, "/last"));

const fresh = await open(edge.url, await pairPhone(edge.url, edge.accessKey));
const answersOfNew = [await ask(fresh, "/a"), await ask(fresh, "/b")];
const isFullStored = isStored("full");

rmSync(join(directory, "filler"));
await until(() => isStored("last"));
const closed = [phone.closedBy, phone.ended, fresh.closedBy, fresh.ended];
for (const each of [phone, fresh]) each.close();
await edge.close();
const again = await start(edge.accessKey);
const returning = await open(again.url, token);
answers.push(await ask(returning, "/end"));
returning.close();
await again.close();
origin.close();
console.log(JSON.stringify({ answers, post, answersOfNew, isFullStored, closed, log }));
process.exit();

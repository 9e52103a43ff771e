/**
 * To be run sealed (`sealed-network.ts`): one phone asks an edge for names whose server never answers; then another is
 * paired and asks for one that does. Arguments: the runtime; whether the edge may reach private addresses, "1" or "".
 * Prints what happened up to then, in order.
 */
import { createServer } from "node:http";
import { type EdgeOptions, startEdge } from "../../scripts/edge-process.ts";
import { startNameServer } from "./name-server.ts";
import { pairPhone, TestPhone } from "./test-phone.ts";

const REQUESTS = 250;

const [runtime, allowPrivate] = process.argv.slice(2);
const silentAsked = Promise.withResolvers<void>();
const nameServer = await startNameServer((name) => {
  if (!name.startsWith("silent")) return ["93.184.216.34"];
  silentAsked.resolve();
  return "silence";
});
const origin = createServer((_, response) => response.end("reached"));
await new Promise<void>((resolve) => origin.listen(80, "::", resolve));
const edge = await startEdge({
  runtime: runtime as EdgeOptions["runtime"],
  port: 0,
  ip: "127.0.0.1",
  allowPrivate: allowPrivate === "1",
});

async function openPhone(): Promise<TestPhone> {
  const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
  await phone.connect();
  return phone;
}

const events: string[] = [];
const asking = await openPhone();
for (let index = 0; index < REQUESTS; index++) {
  const isOver = () => events.push("a request ended");
  asking.fetch(`http://silent${index}.test/`).then(isOver, isOver);
}
await silentAsked.promise;
const other = await openPhone();
events.push("paired");
events.push((await other.fetch("http://quick.test/")).text);
console.log(JSON.stringify(events));

asking.close();
other.close();
origin.close();
nameServer.close();
await edge.close();
process.exit();

/**
 * To be run sealed (`sealed-network.ts`): asks an edge for names that lead to addresses.
 * Arguments: the runtime, then addresses. Prints, by address, "reached" or the code of the error.
 */
import { createServer } from "node:http";
import { type EdgeOptions, startEdge } from "../../scripts/edge-process.ts";
import { ErrorCode, type RopewayError } from "../../shared/errors.ts";
import { startNameServer } from "./name-server.ts";
import { pairPhone, TestPhone } from "./test-phone.ts";

const [runtime, ...addresses] = process.argv.slice(2);
const nameServer = await startNameServer((name) => {
  const address = addresses[Number(/^n(\d+)\.test$/.exec(name)?.[1])];
  return address === undefined ? null : [address];
});
const origin = createServer((_, response) => response.end("reached"));
await new Promise<void>((resolve) => origin.listen(80, "::", resolve));
const edge = await startEdge({ runtime: runtime as EdgeOptions["runtime"], port: 0, ip: "127.0.0.1" });
const phone = new TestPhone(edge.url, await pairPhone(edge.url, edge.accessKey));
await phone.connect();

const results: Record<string, string> = {};
for (const [index, address] of addresses.entries()) {
  results[address] = await phone.fetch(`http://n${index}.test/`).then(
    ({ text }) => text,
    (error: RopewayError) => Object.entries(ErrorCode).find(([, code]) => code === error.code)?.[0] ?? String(error),
  );
}
console.log(JSON.stringify(results));

phone.close();
origin.close();
nameServer.close();
await edge.close();
process.exit();

/**
 * To be run sealed (`sealed-network.ts`): asks an edge for a host that wants to be asked by https: only, in two sites'
 * pages. Argument: the runtime. Prints, by step, what answered: "clear" or "secure", with the URL that the phone is told.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testCertificate } from "../../e2e/fixtures/test-certificate.ts";
import { type EdgeOptions, startEdge } from "../../scripts/edge-process.ts";
import { startNameServer } from "./name-server.ts";
import { pairPhone, TestPhone } from "./test-phone.ts";

const nameServer = await startNameServer(() => ["93.184.216.34"]);
const authority = testCertificate("authority.test");
const directory = await mkdtemp(join(tmpdir(), "ropeway-transport-"));
process.env.NODE_EXTRA_CA_CERTS = join(directory, "authority.pem");
await writeFile(process.env.NODE_EXTRA_CA_CERTS, authority.cert);

const answerAs =
  (text: string): RequestListener =>
  ({ url }, response) => {
    const age = url === "/strict" ? 3600 : url === "/lax" ? 0 : null;
    if (age !== null) response.setHeader("strict-transport-security", `max-age=${age}`);
    response.setHeader("connection", "close").end(text);
  };
const origins = [
  createServer(answerAs("clear")).listen(80, "::"),
  createTlsServer(testCertificate("bank.test", authority), answerAs("secure")).listen(443, "::"),
];
const [runtime] = process.argv.slice(2);
const edge = await startEdge({ runtime: runtime as EdgeOptions["runtime"], port: 0, ip: "127.0.0.1" });
const token = await pairPhone(edge.url, edge.accessKey);

const steps: string[] = [];
async function visit(phone: TestPhone, url: string, topLevelOrigin: string): Promise<void> {
  const { head, text } = await phone.fetch(url, {
    topLevelOrigin,
    origin: topLevelOrigin,
    mode: "no-cors",
    destination: "script",
  });
  steps.push(`${text} ${head.url}`);
}

const first = new TestPhone(edge.url, token);
await first.connect();
// What an answer in clear says does not count.
await visit(first, "http://bank.test/strict", "http://bank.test");
await visit(first, "http://bank.test/", "http://bank.test");
await visit(first, "https://bank.test/strict", "http://bank.test");
await visit(first, "http://bank.test/", "http://bank.test");
await visit(first, "http://bank.test/", "http://other.test");
first.close();

const second = new TestPhone(edge.url, token);
await second.connect();
await visit(second, "http://bank.test/", "http://bank.test");
await visit(second, "https://bank.test/lax", "http://bank.test");
await visit(second, "http://bank.test/", "http://bank.test");
second.close();
console.log(JSON.stringify(steps));

for (const origin of origins) origin.close();
nameServer.close();
await edge.close();
await rm(directory, { recursive: true });
process.exit();

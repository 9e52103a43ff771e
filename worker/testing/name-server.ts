/** A name server of the tests, as small as DNS over UDP allows (RFC 1035 section 4): A and AAAA, what it likes. */
import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

const TYPES: Readonly<Record<number, 4 | 6>> = { 1: 4, 28: 6 };
const HEADER_BYTES = 12;
/** Question type and class. */
const QUESTION_TAIL_BYTES = 4;
/** QR, RD, RA; and with "no such name". */
const NO_ERROR = 0x8180;
const NO_SUCH_NAME = 0x8183;

/** Addresses of a name, IPv4 and IPv6; null for no such name, "silence" for no answer ever. */
export type Answer = (name: string) => readonly string[] | null | "silence";

export interface NameServer {
  close(): void;
}

/** Answers are valid for no time at all. */
export async function startNameServer(answer: Answer, address = "127.0.0.1", port = 53): Promise<NameServer> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { address: from, port: fromPort }) => {
    const { name, end } = readName(query);
    const family = TYPES[query.readUInt16BE(end)];
    const addresses = answer(name);
    if (addresses === "silence") return;
    const fitting = (addresses ?? []).filter((text) => (isIPv6(text) ? 6 : 4) === family);
    const head = Buffer.from(query.subarray(0, HEADER_BYTES));
    head.writeUInt16BE(addresses === null ? NO_SUCH_NAME : NO_ERROR, 2);
    // One question, the answers, no others.
    for (const [index, count] of [1, fitting.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * index);
    const question = query.subarray(HEADER_BYTES, end + QUESTION_TAIL_BYTES);
    socket.send(Buffer.concat([head, question, ...fitting.map(record)]), fromPort, from);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(port, address, resolve);
  });
  return { close: () => socket.close() };
}

/** @returns the name in lower case, and the offset behind it. */
function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
    labels.push(query.toString("latin1", offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: offset + 1 };
}

/** Of the name in the question (a pointer to it), class IN, time to live 0. */
function record(address: string): Buffer {
  const bytes = ipaddr.parse(address).toByteArray();
  const type = isIPv6(address) ? 28 : 1;
  return Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
}

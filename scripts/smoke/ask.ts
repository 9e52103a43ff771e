/** Plain requests to a deployment: no redirect is followed, no connection is kept, and what TLS says is kept apart. */
import { type LookupAddress, lookup } from "node:dns";
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";

/** Milliseconds that one answer may take. */
export const ANSWER_TIME = 10_000;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface WholeAnswer extends Answer {
  /** Of the server. */
  readonly address: string;
}

interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The whole answer. Rejects with the connection's error. */
export async function ask(url: string | URL, question: Question = {}): Promise<WholeAnswer> {
  const response = await answerTo(send(url, question));
  const { remoteAddress = "" } = response.socket;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { ...answerOf(response, Buffer.concat(chunks).toString()), address: remoteAddress };
}

/** As `ask`, for a request to change protocols: the answer's head, whatever it says. */
export async function askToUpgrade(url: string | URL, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const request = send(url, { headers });
  const response = await Promise.race([answerTo(request), upgradeOf(request)]);
  request.destroy();
  return answerOf(response, "");
}

/** The body's first bytes, and how long they took; null where none came in `patience` milliseconds. */
export async function firstBytes(
  url: string | URL,
  question: Question,
  patience: number,
): Promise<{ readonly status: number; readonly bytes: Buffer | null }> {
  const request = send(url, question);
  const timer = Promise.withResolvers<null>();
  const timeout = setTimeout(() => timer.resolve(null), patience);
  try {
    const response = await Promise.race([answerTo(request), timer.promise]);
    if (response === null) return { status: 0, bytes: null };
    const chunk = new Promise<Buffer | null>((resolve) =>
      response.once("data", resolve).once("end", () => resolve(null)),
    );
    return { status: response.statusCode ?? 0, bytes: await Promise.race([chunk, timer.promise]) };
  } finally {
    clearTimeout(timeout);
    request.on("error", () => {}).destroy();
  }
}

function send(url: string | URL, { method = "GET", headers = {} }: Question): ClientRequest {
  const request = new URL(url).protocol === "https:" ? httpsRequest : httpRequest;
  const sent = request(url, { method, headers, agent: false, lookup: lookupAsBrowsers });
  sent.setTimeout(ANSWER_TIME, () => sent.destroy(new Error(`no answer within ${ANSWER_TIME / 1000} seconds`)));
  sent.end();
  return sent;
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => request.once("response", resolve).once("error", reject));
}

function upgradeOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve) => {
    request.once("upgrade", (response, socket) => {
      socket.on("error", () => {}).destroy();
      resolve(response);
    });
  });
}

function answerOf(response: IncomingMessage, text: string): Answer {
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

const isBelowLocalhost = (host: string): boolean => /\.localhost\.?$/.test(host);

/** Names below `localhost` are this machine, as browsers have it and few resolvers do (RFC 6761 section 6.3). */
export const lookupAsBrowsers: LookupFunction = (host, options, callback) => {
  lookup(
    isBelowLocalhost(host) ? "localhost" : host,
    options,
    callback as (error: Error | null, address: string | LookupAddress[]) => void,
  );
};

/** The same origin by a name that every resolver knows. */
export function resolvable(origin: string): string {
  const url = new URL(origin);
  if (isBelowLocalhost(url.hostname)) url.hostname = "localhost";
  return url.origin;
}

export function isHtml({ headers }: Answer): boolean {
  return /^text\/html\b/.test(headers["content-type"] ?? "");
}

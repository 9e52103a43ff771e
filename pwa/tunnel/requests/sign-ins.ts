/**
 * HTTP authentication (RFC 9110 section 11): names and passwords that the person has given to origins, for as long as the app
 * runs. Loaded with the first answer that asks for some.
 */
import { md5 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { BoundedMap } from "../../../shared/bounded-map.ts";
import { headerValues } from "../../../shared/http/head-fields.ts";
import type { RequestHead, ResponseHead } from "../../../shared/http/heads.ts";
import { decodeByteString } from "../../../shared/web/origin.ts";
import type { SignInAsked } from "../../messages/tunnel-messages.ts";

export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** Names in lower case, each once; a `token68` is left out. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Characters of the fields of an answer that are read. */
const MOST = 8_192;

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PART = new RegExp(`\\s*(?:,\\s*)*(${TOKEN})(?:\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN}))|[ \\t]*)`, "y");

/** The value of `WWW-Authenticate` (section 11.6.1), all lines joined. A part that cannot be read ends it. */
export function parseChallenges(text: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  const part = new RegExp(PART);
  const read = text.slice(0, MOST);
  for (let match = part.exec(read); match !== null; match = part.exec(read)) {
    const [, name = "", quoted, plain] = match;
    const value = quoted?.replace(/\\(.)/g, "$1") ?? plain;
    if (value === undefined) challenges.push({ scheme: name.toLowerCase(), parameters: {} });
    else if (challenges.length > 0)
      (challenges.at(-1)?.parameters as Record<string, string>)[name.toLowerCase()] ??= value;
  }
  return challenges;
}

type Hash = (text: string) => string;

/** By what a server says: it may say any word. */
const HASHES: ReadonlyMap<string, Hash> = new Map([
  ["md5", (text) => bytesToHex(md5(utf8ToBytes(text)))],
  ["sha-256", (text) => bytesToHex(sha256(utf8ToBytes(text)))],
]);

/** Schemes that are answered, the strongest first. */
function usable(challenges: readonly Challenge[]): Challenge | undefined {
  const strength = ({ scheme, parameters: { algorithm = "MD5", qop, nonce } }: Challenge): number => {
    if (scheme === "basic") return 1;
    const [hash = ""] = algorithm.toLowerCase().split(/-sess$/);
    const isUsable = HASHES.has(hash) && nonce !== undefined && (qop === undefined || hasAuth(qop));
    return scheme === "digest" && isUsable ? (hash === "md5" ? 2 : 3) : 0;
  };
  return challenges.filter((each) => strength(each) > 0).sort((one, other) => strength(other) - strength(one))[0];
}

const hasAuth = (qop: string): boolean => /(?:^|[\s,])auth(?:$|[\s,])/i.test(qop);

interface Given {
  readonly name: string;
  readonly password: string;
}

/** Basic (RFC 7617): in UTF-8, as browsers send it. */
export function basic({ name, password }: Given): string {
  return `Basic ${btoa(String.fromCharCode(...utf8ToBytes(`${name}:${password}`)))}`;
}

/** Digest (RFC 7616 section 3.4). @param count of requests with this nonce. @param uri as the request line has it. */
export function digest(
  { parameters }: Challenge,
  { name, password }: Given,
  { method, uri, count, cnonce }: { method: string; uri: string; count: number; cnonce: string },
): string {
  const { realm = "", nonce = "", opaque, qop, algorithm = "MD5", userhash } = parameters;
  const [hashName = ""] = algorithm.toLowerCase().split(/-sess$/);
  const hash = HASHES.get(hashName) as Hash;
  const nc = count.toString(16).padStart(8, "0");
  const isSession = /-sess$/i.test(algorithm);
  const secret = hash(`${name}:${realm}:${password}`);
  const a1 = isSession ? hash(`${secret}:${nonce}:${cnonce}`) : secret;
  const a2 = hash(`${method}:${uri}`);
  const response = hash(qop === undefined ? `${a1}:${nonce}:${a2}` : `${a1}:${nonce}:${nc}:${cnonce}:auth:${a2}`);
  const isHashed = userhash?.toLowerCase() === "true";
  const fields: [name: string, value: string][] = [
    ["username", quoted(isHashed ? hash(`${name}:${realm}`) : name)],
    ["realm", quoted(realm)],
    ["uri", quoted(uri)],
    ...(parameters.algorithm === undefined ? [] : [["algorithm", algorithm] as [string, string]]),
    ["nonce", quoted(nonce)],
    ...(qop === undefined
      ? []
      : ([
          ["nc", nc],
          ["cnonce", quoted(cnonce)],
          ["qop", "auth"],
        ] as [string, string][])),
    ["response", quoted(response)],
    ...(opaque === undefined ? [] : [["opaque", quoted(opaque)] as [string, string]]),
    ...(isHashed ? [["userhash", "true"] as [string, string]] : []),
  ];
  return `Digest ${fields.map((field) => field.join("=")).join(", ")}`;
}

/** Of the bytes of UTF-8, as fields carry them. */
function quoted(text: string): string {
  return `"${String.fromCharCode(...utf8ToBytes(text)).replace(/["\\]/g, "\\$&")}"`;
}

interface Space {
  challenge: Challenge;
  readonly given: Given;
  /** Of requests with this challenge. */
  count: number;
  /** The challenge came in place of one that was stale. */
  isRenewed: boolean;
}

type Answered = Pick<ResponseHead, "url" | "headers">;

/** Origins whose challenges wait for the person. */
const MOST_ASKED = 32;

/** Characters of a server's words that are shown: more would push away what the app says. */
const MOST_REALM = 80;

/** As it is shown, without characters that turn the text around or break it. */
const shownRealm = (realm: string): string => realm.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").slice(0, MOST_REALM);

export class SignIns {
  readonly #random: () => string;
  /** By origin: servers that have several realms are rare, and browsers ask anew there. */
  readonly #spaces = new Map<string, Space>();
  /** The latest challenge of each origin. */
  readonly #asked = new BoundedMap<string, Challenge>(MOST_ASKED);
  /** Of heads that had a name and a password: whose, and for which challenge. */
  readonly #sent = new WeakMap<RequestHead, { readonly space: Space; readonly challenge: Challenge }>();

  /** @param random gives a text that nobody can guess. */
  constructor(random: () => string = () => crypto.randomUUID()) {
    this.#random = random;
  }

  /** The person has answered this origin's latest challenge. */
  give(origin: string, given: Given): void {
    const challenge = this.#asked.get(origin);
    if (challenge === undefined) return;
    this.#spaces.set(origin, { challenge, given, count: 0, isRenewed: false });
  }

  /** The head with the fields that its origin wants. */
  marked(head: RequestHead): RequestHead {
    const url = new URL(head.url);
    const space = this.#spaces.get(url.origin);
    if (space === undefined || !takesSignIn(head, url)) return head;
    const { challenge, given } = space;
    space.count += 1;
    // The handshake of a page's socket is a GET.
    const method = head.protocol === undefined ? head.method : "GET";
    const request = { method, uri: url.pathname + url.search, count: space.count, cnonce: this.#random() };
    const value = challenge.scheme === "basic" ? basic(given) : digest(challenge, given, request);
    const marked: RequestHead = { ...head, headers: [...head.headers, ["authorization", value]] };
    this.#sent.set(marked, { space, challenge });
    return marked;
  }

  /**
   * An answer of status 401: the request to send in place of its own, without asking the person; null for none. There is one
   * where the person has given another name or password since, where the server wants them with a new nonce, and where a
   * redirect led elsewhere: a digest is of one address (RFC 7616 section 3.4), so the new address is asked itself.
   *
   * @param sent as `marked` gave it. @param asked as it was before.
   */
  again(response: Answered, sent: RequestHead, asked: RequestHead): RequestHead | null {
    const had = this.#had(response, sent);
    const space = this.#spaces.get(new URL(response.url).origin);
    if (had === undefined || space === undefined) return null;
    if (isLedElsewhere(response, sent, had.challenge))
      return asked.method === "GET" ? { ...asked, url: bareAddress(response.url) } : null;
    if (had.space !== space || had.challenge !== space.challenge) return asked;
    const challenge = challengeOf(response);
    if (challenge?.parameters.stale?.toLowerCase() !== "true" || !isOfRealm(challenge, space)) return null;
    // A server that calls each new one stale would be asked for ever.
    if (space.isRenewed && space.count <= 1) return null;
    Object.assign(space, { challenge, count: 0, isRenewed: true });
    return asked;
  }

  /**
   * An answer of status 401 for which `again` has no other request.
   *
   * @param sent as `marked` gave it. A redirect to another origin takes nothing along of what it had.
   * @param part of a page, as that has asked for it; null for a page itself, or a frame of its own site.
   * @returns null where it asks for nothing that the person could give, or has given.
   */
  ask(response: Answered, sent: RequestHead, part: RequestHead | null): SignInAsked | null {
    const url = new URL(response.url);
    const { origin } = url;
    const challenge = challengeOf(response);
    if (challenge === undefined) return null;
    const space = this.#spaces.get(origin);
    const had = this.#had(response, sent);
    const isRead = had !== undefined && !isLedElsewhere(response, sent, had.challenge);
    const isWrong = isRead && had.space === space && isOfRealm(challenge, space);
    if (part !== null) {
      const asked = new URL(part.url);
      const isAsked = part.method === "GET" && asked.origin === origin && takesSignIn(part, asked);
      // Of two realms of an origin the page's own counts.
      if (!isAsked || (space !== undefined && !isWrong)) return null;
    }
    if (isWrong) this.#spaces.delete(origin);
    this.#asked.set(origin, challenge);
    return {
      origin,
      url: bareAddress(response.url),
      realm: shownRealm(realmOf(challenge)),
      isWrong,
      isPart: part !== null,
    };
  }

  /** What a request had that its own origin has answered. */
  #had({ url }: Answered, sent: RequestHead) {
    return new URL(sent.url).origin === new URL(url).origin ? this.#sent.get(sent) : undefined;
  }
}

const bareAddress = (url: string): string => url.split("#", 1)[0] as string;

function isLedElsewhere({ url }: Answered, sent: RequestHead, { scheme }: Challenge): boolean {
  return scheme === "digest" && bareAddress(url) !== bareAddress(sent.url);
}

const realmOf = ({ parameters: { realm = "" } }: Challenge): string => realm;

const isOfRealm = (challenge: Challenge, space: Space): boolean => realmOf(challenge) === realmOf(space.challenge);

function challengeOf({ headers }: Answered): Challenge | undefined {
  return usable(parseChallenges(decodeByteString(headerValues(headers, "www-authenticate").join(", "))));
}

/**
 * Whether a request takes along what the person has given: it is for a page, or of one of its origin, and has nothing of its
 * own. Below another site's page nobody has signed in: that site could have a frame do things in the person's name.
 */
function takesSignIn(head: RequestHead, url: URL): boolean {
  const isAmbient = head.mode === "navigate" || (head.origin === url.origin && head.credentials !== "omit");
  const isOwn = head.headers.some(([name]) => name === "authorization") || url.username !== "" || url.password !== "";
  return head.topLevelOrigin === url.origin && isAmbient && !isOwn;
}

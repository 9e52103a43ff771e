/** What every visitor of a deployment gets: its addresses, its files, and what it refuses. */
import {
  CONFIG_PATH,
  type EdgeConfig,
  HEALTH_PATH,
  PAIR_PATH,
  RESERVED_PATH,
  SUBPROTOCOL,
  TUNNEL_PATH,
} from "../../shared/subprotocol.ts";
import { VERSION } from "../../shared/version.ts";
import { isLocalName } from "../../worker/front/edge-settings.ts";
import { securityHeaders } from "../../worker/front/hosts.ts";
import { ask, isHtml } from "./ask.ts";
import { certificateOf } from "./certificate.ts";
import { type Check, expectThat, type Findings, SmokeFault, type SmokeSettings } from "./check.ts";

export const frontChecks: readonly Check[] = [
  { name: "address", needs: [], run: checkAddress },
  { name: "certificate", needs: ["address"], run: checkCertificate },
  { name: "health", needs: ["certificate"], run: checkHealth },
  { name: "app", needs: ["health"], run: checkApp },
  { name: "headers", needs: ["app"], run: checkHeaders },
  { name: "service workers", needs: ["app"], run: checkServiceWorkers },
  { name: "own answers", needs: ["health"], run: checkOwnAnswers },
  { name: "strangers", needs: ["health"], run: checkStrangers },
];

async function checkAddress({ origin }: SmokeSettings): Promise<string> {
  const start = performance.now();
  const { hostname } = new URL(origin);
  const answer = await ask(new URL(HEALTH_PATH, origin)).catch((error: NodeJS.ErrnoException) => {
    if (isTlsError(error)) return null;
    if (error.code === "ENOTFOUND" || error.code === "EAI_AGAIN")
      throw new SmokeFault(`Nobody knows the name ${hostname}`, "Add a DNS record for it, or wait until it is known");
    throw new SmokeFault(
      `No server answers at ${origin}: ${error.message}`,
      "See whether the edge runs, and whether a firewall lets its port through",
    );
  });
  return answer === null ? "answers" : `${answer.address}, in ${Math.round(performance.now() - start)} ms`;
}

async function checkCertificate({ origin }: SmokeSettings): Promise<string> {
  const { protocol, hostname } = new URL(origin);
  if (protocol === "http:") {
    expectThat(
      isLocalName(hostname),
      "The address is http, and browsers allow service workers over https only",
      "Give the edge a certificate, and use its https address",
    );
    return "not needed on this machine";
  }
  return certificateOf(new URL(origin), "the certificate is for other names", "Get one for the base host");
}

async function checkHealth({ origin }: SmokeSettings, found: Findings): Promise<string> {
  const answer = await ask(new URL(HEALTH_PATH, origin));
  const health = parseJson(answer.text) as { status?: string; version?: string; protocol?: string } | null;
  expectThat(
    answer.status === 200 && health?.status === "ok",
    `${HEALTH_PATH} answers ${answer.status}, and not as an edge does`,
    "See what else answers at this address, and let all paths lead to the edge",
  );
  expectThat(
    health.version === VERSION && health.protocol === SUBPROTOCOL,
    `The edge is version ${health.version} and speaks ${health.protocol}; this is ${VERSION} and speaks ${SUBPROTOCOL}`,
    "Deploy again, or run the smoke test of that version",
  );
  const config = parseJson((await ask(new URL(CONFIG_PATH, origin))).text) as EdgeConfig | null;
  expectThat(
    config?.version === VERSION,
    `${CONFIG_PATH} is not that of this edge`,
    "Let no cache in front of the edge keep it",
  );
  Object.assign(found, { slotHost: config.slotHost, demoUrl: config.demoUrl });
  return `version ${VERSION}`;
}

async function checkApp({ origin }: SmokeSettings, found: Findings): Promise<string> {
  let answer = await ask(new URL("/", origin));
  const { location } = answer.headers;
  if (answer.status === 302 && location !== undefined) {
    found.origin = new URL(location, origin).origin;
    answer = await ask(new URL("/", found.origin));
  }
  expectThat(
    answer.status === 200 && isHtml(answer) && /"\/shell-[0-9a-f]{20}\.js"/.test(answer.text),
    `The start page is not the app: it answers ${answer.status}, ${answer.headers["content-type"] ?? "without a type"}`,
    "Build before you deploy, and let / lead to the edge",
  );
  const list = /<meta name="ropeway-slots" content="([^"]+)"/.exec(answer.text)?.[1];
  found.slotOrigins = list?.split(" ") ?? [];
  return found.origin === origin ? "there" : `at ${found.origin}`;
}

async function checkHeaders(_: SmokeSettings, { origin, slotHost, slotOrigins }: Findings): Promise<string> {
  const url = new URL("/", origin);
  const { headers } = await ask(url);
  const base = slotHost === null ? undefined : url.hostname;
  const wanted = Object.keys(securityHeaders(url, "base", { base, listed: [] }));
  const missing = wanted.filter((name) => headers[name] === undefined);
  expectThat(
    missing.length === 0,
    `The app comes without ${missing.join(", ")}, which protects it from the pages that it shows`,
    "Let what is in front of the edge pass its response headers on as they are",
  );
  const policy = String(headers["content-security-policy"]);
  expectThat(
    policy.includes(slotHost === null ? (slotOrigins.at(-1) ?? "default-src 'self'") : `*.${slotHost}`),
    "The app's content-security-policy does not let it show pages: it names other hosts",
    "Let what is in front of the edge pass the Host field on, and set no policy of its own",
  );
  return `${wanted.length} there`;
}

async function checkServiceWorkers(_: SmokeSettings, { origin }: Findings): Promise<string> {
  for (const path of ["/sw.js", `${RESERVED_PATH}sw.js`]) {
    const { status, headers } = await ask(new URL(path, origin));
    expectThat(
      status === 200 && /javascript/.test(headers["content-type"] ?? ""),
      `${path} answers ${status}, ${headers["content-type"] ?? "without a type"}: browsers take only JavaScript`,
      "Let what is in front of the edge pass its files on as they are",
    );
    expectThat(
      headers["service-worker-allowed"] === "/",
      `${path} comes without service-worker-allowed, so no browser lets it serve a whole host`,
      "Let what is in front of the edge pass that header on",
    );
  }
  return "both there";
}

/** The same address is answered in two ways, which only the edge knows. */
async function checkOwnAnswers({ origin }: SmokeSettings): Promise<string> {
  const url = new URL(TUNNEL_PATH, origin);
  const plain = await ask(url);
  const refused = await ask(url, { headers: { authorization: "Bearer nobody" } });
  expectThat(
    plain.headers.age === undefined && refused.headers.age === undefined && refused.status !== plain.status,
    "A cache in front of the edge keeps answers that are marked no-store",
    "Turn caching off for this host; Cloudflare: delete rules such as Cache Everything",
  );
  expectThat(
    refused.status === 401 || refused.status === 503,
    `The tunnel answers ${refused.status} to a wrong token in place of 401`,
    "Let what is in front of the edge pass the Authorization field and the edge's status on",
  );
  return "no cache between";
}

async function checkStrangers(_: SmokeSettings, { origin }: Findings): Promise<string> {
  const url = new URL(PAIR_PATH, origin);
  const { status } = await ask(url, { method: "POST", headers: { authorization: "Bearer not-the-key" } });
  expectThat(
    status !== 503,
    "The edge has no access key, so no phone can be paired",
    "Set ROPEWAY_ACCESS_KEY; npm run deploy does it by itself",
  );
  expectThat(
    status === 401 || status === 429,
    `The edge answers ${status} to a wrong key in place of 401`,
    "Let /.ropeway/pair lead to the edge itself",
  );
  const foreign = await ask(new URL(TUNNEL_PATH, origin), { headers: { origin: "https://stranger.example" } });
  expectThat(
    foreign.status === 403,
    `The tunnel answers ${foreign.status} to another website in place of 403`,
    "Let what is in front of the edge pass the fields Host and Origin on as the browser sent them",
  );
  return "wrong key and foreign website refused";
}

function isTlsError({ code = "" }: NodeJS.ErrnoException): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/.test(code);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

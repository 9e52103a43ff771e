/** Answers over HTTP/1 that no server should give and browsers read: what Chromium made of each stands beside it. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { testCertificate } from "../../e2e/fixtures/test-certificate.ts";
import { ErrorCode, errorCodeName } from "../../shared/errors.ts";
import { edgeOfTests } from "../testing/edge-of-tests.ts";

const LENGTH = "Content-Length: 2\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const OK = "HTTP/1.1 200 OK\r\n";
const chunked = (first: string, end = "0\r\n\r\n") => `${OK}${CHUNKED}X-A: b\r\n\r\n${first}\r\nok\r\n${end}`;

/** All say "ok", and the field `X-A` where there is a second value. */
const READ: Readonly<Record<string, readonly [answer: string, xA: string | null]>> = {
  "a folded line": [`${OK}${LENGTH}X-A: b\r\n c\r\n\td\r\n\r\nok`, "b c d"],
  "a fold before any line": [`${OK} c\r\n${LENGTH}\r\nok`, null],
  "a line without a name": [`${OK}: empty\r\n${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "a line without a colon": [`${OK}junk line\r\n more junk\r\n${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "names that are none": [`${OK}X(y): b\r\n"X": b\r\nX A: b\r\n${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "a space before the colon": [`${OK}Content-Length : 2\r\nX-A\t: b\r\n\r\nok`, "b"],
  "bare line feeds": [`HTTP/1.1 200 OK\nContent-Length: 2\nX-A: b\n\nok`, "b"],
  "bare line feeds here and there": [`${OK}Content-Length: 2\nX-A: b\r\n\nok`, "b"],
  "equal lengths": [`${OK}${LENGTH}${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "equal lengths in a line": [`${OK}Content-Length: 2, 2\r\nX-A: b\r\n\r\nok`, "b"],
  "a length with a sign": [`${OK}Content-Length: +2\r\nX-A: b\r\n\r\nok`, "b"],
  "an extension of a chunk": [chunked('2;name=value;q="a b"', "0;x\r\n\r\n"), "b"],
  "blanks behind a chunk's size": [chunked("2  "), "b"],
  trailers: [chunked("2", "0\r\nX-T: 1\r\nX-U: 2\r\n\r\n"), "b"],
  "chunks with bare line feeds": [chunked("2").replaceAll("\r", ""), "b"],
  "a coding before chunks that is none": [chunked("2").replace("chunked", "gzip, chunked"), "b"],
  "100 that nobody asked for": [`HTTP/1.1 100 Continue\r\n\r\n${OK}${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "103, 102 and 103": [
    `${[103, 102, 103].map((status) => `HTTP/1.1 ${status} X\r\nLink: </x>\r\n\r\n`).join("")}${OK}${LENGTH}X-A: b\r\n\r\nok`,
    "b",
  ],
  "a field of 60 KB": [`${OK}${LENGTH}X-Long: ${"y".repeat(60_000)}\r\nX-A: b\r\n\r\nok`, "b"],
  "fields of 250 KB": [
    `${OK}${LENGTH}${Array.from({ length: 25 }, (_, at) => `X-${at}: ${"y".repeat(10_000)}\r\n`).join("")}X-A: b\r\n\r\nok`,
    "b",
  ],
  "300 lines": [`${OK}${LENGTH}${"X-Line: yes\r\n".repeat(300)}\r\nok`, null],
  "a status line in small letters": [`http/1.1 200 OK\r\n${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "a status line with blanks": [`HTTP/1.1   200   OK\r\n${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "another version": [`HTTP/2 200 OK\r\n${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "empty lines before the status line": [`\r\n\r\n${OK}${LENGTH}X-A: b\r\n\r\nok`, "b"],
  "no length at all": [`${OK}X-A : b\r\n\r\nok`, "b"],
};
/** Chromium refuses them, too. */
const REFUSED: Readonly<Record<string, string>> = {
  "two lengths": `${OK}${LENGTH}Content-Length: 3\r\n\r\nok`,
  "a NUL in the head": `${OK}${LENGTH}X-A: b\0c\r\n\r\nok`,
  "another protocol": "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nok",
};
/** Bytes of fields: UTF-8 with and without letters of Latin-1, Latin-1, GBK, Shift_JIS. */
const BYTES = ["gr\xc3\xbc\xc3\x9fe", "\xe2\x98\x83", "gr\xfc\xdfe", "\xc4\xe3\xba\xc3", "\x83e\x83X\x83g"];
const NAMED = BYTES.map(
  (name, at) =>
    `${OK}${LENGTH}Content-Disposition: attachment; filename="${name}"\r\nSet-Cookie: c${at}=${name}; path=/\r\n\r\nok`,
);
/** The connection ends before the empty line. Over TLS somebody else may have cut it, and Chromium says so. */
const CUT = "HTTP/1.1 200 OK\nX-A: b\n";
const ANSWERS = [...Object.values(READ).map(([answer]) => answer), ...Object.values(REFUSED), ...NAMED, CUT];

describe.each(["workerd", "deno"] as const)("odd answers to an edge on %s", (runtime) => {
  let directory: string;
  let origins: Readonly<Record<"address" | "name" | "tls" | "unasked" | "unasked tls", string>>;
  const requests: string[] = [];
  let cookies = "";
  const answer = (socket: Socket): void => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      const [, method = "", number = ""] = /^(\w+) \/(\d+)/.exec(bytes.toString("latin1")) ?? [];
      requests.push(`${method} ${number}`);
      cookies = /^cookie: (.*)$/im.exec(bytes.toString("latin1"))?.[1] ?? "";
      socket.end(ANSWERS[Number(number)] ?? "", "latin1");
    });
  };
  const authority = testCertificate("authority.test");
  const certificate = testCertificate("127.0.0.1", authority);
  const pair = () => [createServer(answer), createTlsServer(certificate, answer)];
  // The latter two for what goes out once: workerd may take a connection again that the origin is just closing.
  const servers = [...pair(), ...pair()];

  beforeAll(async () => {
    for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
    const [plain, secure, unasked, secureUnasked] = servers.map((server) => (server.address() as AddressInfo).port);
    origins = {
      address: `http://127.0.0.1:${plain}`,
      name: `http://odd.localhost:${plain}`,
      tls: `https://127.0.0.1:${secure}`,
      unasked: `http://127.0.0.1:${unasked}`,
      "unasked tls": `https://127.0.0.1:${secureUnasked}`,
    };
    directory = await mkdtemp(join(tmpdir(), "ropeway-odd-"));
    const file = join(directory, "authority.pem");
    await writeFile(file, authority.cert);
    vi.stubEnv("NODE_EXTRA_CA_CERTS", file);
  });
  const edge = edgeOfTests(runtime);
  afterAll(async () => {
    for (const server of servers) server.close();
    vi.unstubAllEnvs();
    await rm(directory, { recursive: true });
  });

  it.each(["address", "name", "tls"] as const)("reads what Chromium reads, by %s", async (road) => {
    const phone = await edge.connectedPhone("websocket");
    const outcomes = await Promise.all(
      Object.keys(READ).map(async (name, index) => {
        const outcome = await phone.fetch(`${origins[road]}/${index}`).then(
          ({ head, text }) => [head.status, text, head.headers.find(([field]) => field === "x-a")?.[1] ?? null],
          (error: { code: number; message: string }) => `${errorCodeName(error.code)}: ${error.message}`,
        );
        return [name, outcome];
      }),
    );
    const expected = Object.entries(READ).map(([name, [, xA]]) => [name, [200, "ok", xA]]);
    expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(expected));
  });

  it("says of what it does not read that it is not HTTP", async () => {
    const phone = await edge.connectedPhone("websocket");
    for (const [index, name] of Object.keys(REFUSED).entries()) {
      const url = `${origins.address}/${Object.keys(READ).length + index}`;
      await expect(phone.fetch(url), name).rejects.toMatchObject({ code: ErrorCode.NOT_HTTP, scope: "stream" });
    }
  });

  it("passes bytes of fields on as they are, and cookies back", async () => {
    const phone = await edge.connectedPhone("websocket");
    const first = ANSWERS.indexOf(NAMED[0] ?? "");
    for (const origin of [origins.address, origins.name]) {
      for (const [index, name] of BYTES.entries()) {
        const { head, text } = await phone.fetch(`${origin}/${first + index}`);
        const disposition = head.headers.find(([field]) => field === "content-disposition")?.[1];
        expect([text, disposition]).toEqual(["ok", `attachment; filename="${name}"`]);
      }
      const { head } = await phone.fetch(`${origin}/${first}`);
      expect(cookies).toBe(BYTES.map((name, at) => `c${at}=${name}`).join("; "));
      expect(head.scriptCookies.find(({ name }) => name === "c0")?.value).toBe("gr\u00fc\u00dfe");
    }
  });

  it("takes a head that ends with the connection for whole, in clear alone", async () => {
    const phone = await edge.connectedPhone("websocket");
    const number = ANSWERS.indexOf(CUT);
    for (const origin of [origins.address, origins.name]) {
      const { head, text } = await phone.fetch(`${origin}/${number}`);
      expect([head.status, text, head.headers.find(([field]) => field === "x-a")?.[1]]).toEqual([200, "", "b"]);
    }
    await expect(phone.fetch(`${origins.tls}/${number}`)).rejects.toMatchObject({ scope: "stream" });
  });

  it("sends nothing twice that may do something, and says why it cannot go on", async () => {
    const phone = await edge.connectedPhone("websocket");
    requests.length = 0;
    const number = Object.keys(READ).indexOf("names that are none");
    for (const origin of [origins.unasked, origins["unasked tls"]]) {
      await expect(phone.fetch(`${origin}/${number}`, { method: "POST", body: "x" })).rejects.toMatchObject({
        code: ErrorCode.NOT_HTTP,
        message: expect.stringMatching("is not HTTP, or none that this edge can read"),
      });
    }
    expect(requests).toEqual(["", ""].map(() => `POST ${number}`));
  });
});

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { fetchLeniently } from "./lenient-http.ts";

/** An answer in pieces of so many bytes, and what was asked for it. */
function originThat(answer: string, piece: number) {
  const bytes = Buffer.from(answer, "latin1");
  const asked: Buffer[] = [];
  let [at, closes] = [0, 0];
  const connect = async () => ({
    readable: new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(new Uint8Array(bytes.subarray(at, at + piece)));
        at += piece;
      },
    }),
    writable: new WritableStream<Uint8Array>({ write: (chunk) => void asked.push(Buffer.from(chunk)) }),
    close: async () => closes++,
  });
  const fetch = (method = "GET") =>
    fetchLeniently(new Request("http://a.example/b?c", { method, headers: { cookie: "a=\xe9" } }), connect);
  return { fetch, asked: () => Buffer.concat(asked).toString("latin1"), closes: () => closes };
}

const OK = "HTTP/1.1 200 F\xfcr\r\n";

it.each([1, 2, 7, 100_000])("reads an answer in pieces of %i bytes, field bytes as they are", async (piece) => {
  const head = `${OK}Set-Cookie: a=\xe9\r\nSet-Cookie: b\r\nX: \xff \r\n\t\xfe\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const origin = originThat(
    `\r\nHTTP/1.1 103 X\r\nX: 1\r\n\r\n${head}3;x\r\nab\xff\r\n1\nd\n0\r\nT: 1\r\n\r\nmore`,
    piece,
  );
  const response = await origin.fetch();
  expect([response.status, response.headers.getSetCookie()]).toEqual([200, ["a=\xe9", "b"]]);
  expect(response.headers.get("x")).toBe("\xff \xfe");
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0x61, 0x62, 0xff, 0x64]);
  expect(origin.asked()).toBe("GET /b?c HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\ncookie: a=\xe9\r\n\r\n");
  expect(origin.closes()).toBe(1);
});

/** Collects all that can be. */
const collect = (): void => {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
};

it("keeps no buffer that a platform gives for each byte", async () => {
  const buffers: WeakRef<ArrayBuffer>[] = [];
  const count = 300;
  const { promise: waited, resolve: wait } = Promise.withResolvers<void>();
  const readable = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (buffers.length === count) return wait();
        const bytes = new Uint8Array(65_536);
        bytes[0] = `${OK}X: ${"a".repeat(count)}`.charCodeAt(buffers.length);
        buffers.push(new WeakRef(bytes.buffer));
        controller.enqueue(bytes.subarray(0, 1));
      },
    },
    { highWaterMark: 0 },
  );
  const gone = new AbortController();
  const connection = { readable, writable: new WritableStream<Uint8Array>(), close() {} };
  const fetching = fetchLeniently(new Request("http://a.example/", { signal: gone.signal }), async () => connection);
  await waited;
  // A weak reference holds what it names until the turn is over.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(buffers.filter((buffer) => buffer.deref() !== undefined).length).toBeLessThan(30);
  fetching.catch(() => {});
});

it.each([
  [`${OK}Content-Length: 1\r\n\r\nab`, "GET", "a"],
  [`${OK}\r\nab`, "GET", "ab"],
  [`${OK}Content-Length: 5\r\n\r\n`, "HEAD", ""],
  ["HTTP/1.1 204 No\r\n\r\nab", "GET", ""],
  ["HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nab", "GET", "ab"],
  ["HTTP/1.1 999 Robot\r\n\r\nab", "GET", "ab"],
  [OK, "GET", ""],
])("ends where %j ends, to a %s", async (answer, method, body) => {
  const origin = originThat(answer, 3);
  expect(await (await origin.fetch(method)).text()).toBe(body);
  expect(origin.closes()).toBe(1);
});

it.each([
  ["SSH-2.0-x\r\n\r\n", ErrorCode.NOT_HTTP],
  ["\r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", ErrorCode.NOT_HTTP],
  ["HTTP/1.1 099 X\r\n\r\n", ErrorCode.NOT_HTTP],
  ["HTTP/1.1 101 X\r\n\r\n", ErrorCode.NOT_HTTP],
  [`${OK}X: ${"y".repeat(262_144)}\r\n\r\n`, ErrorCode.NOT_HTTP],
  ["HTTP/1.1 103 X\r\n\r\n".repeat(20_000), ErrorCode.NOT_HTTP],
  [`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, ErrorCode.NOT_HTTP],
  [`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n`, ErrorCode.NOT_HTTP],
  [`${OK}Transfer-Encoding: chunked\r\n\r\n${"1".repeat(17_000)}`, ErrorCode.NOT_HTTP],
  [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nabc`, ErrorCode.CONNECTION_RESET],
  [`${OK}Content-Length: 5\r\n\r\nabc`, ErrorCode.CONNECTION_RESET],
  ["", ErrorCode.CONNECTION_RESET],
])("says of the %#th what it is", async (answer, code) => {
  const origin = originThat(answer, 16_384);
  await expect(origin.fetch().then((response) => response.text())).rejects.toMatchObject({ code });
  expect(origin.closes()).toBe(1);
});

it("reads trailers that do not end no longer than a head", async () => {
  const trailers = `T: ${"a".repeat(1000)}\r\n`.repeat(300);
  const origin = originThat(`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${trailers}`, 100_000);
  const response = await origin.fetch();
  await expect(response.text()).rejects.toMatchObject({ code: ErrorCode.NOT_HTTP });
  expect(origin.closes()).toBe(1);
});

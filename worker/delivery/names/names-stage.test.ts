import { describe, expect, it } from "vitest";
import { byteStringToBytes, bytesToByteString } from "../../../shared/base-encodings.ts";
import { setTimer } from "../../../shared/clock.ts";
import { Room } from "../../../shared/fair-shares.ts";
import type { HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import { READS_MARKED } from "../../../shared/http/phone-fields.ts";
import { responseHead } from "../../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { READ_MARKS, unmarkedBody, withoutReadMarks } from "../../../shared/web/read-marks.ts";
import { NamesStage } from "./names-stage.ts";
import { markReads } from "./script-reads.ts";

const HTML: HeaderList = [["content-type", "text/html; charset=windows-1251"]];
const SCRIPT: HeaderList = [["content-type", "text/javascript"]];
const READ = "location.host";
const MARKED = markReads(READ) ?? "";

const stage = new NamesStage(new Room(1 << 24, () => 0), setTimer);

/** @param pieces lengths of the pieces in which the body comes. */
async function passed(
  characters: string,
  {
    headers = HTML,
    asked = {},
    piece = 1 << 20,
    through = stage,
  }: { headers?: HeaderList; asked?: Partial<RequestHead>; piece?: number; through?: NamesStage } = {},
) {
  const bytes = byteStringToBytes(characters);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += piece) controller.enqueue(bytes.slice(at, at + piece));
      controller.close();
    },
  });
  const destination = headers === HTML ? ("document" as const) : ("script" as const);
  const request: RequestHead = { ...requestHead, destination, marksReads: true, ...asked };
  const { head, body: out } = await through.apply({ head: { ...responseHead, status: 200, headers }, body }, request);
  const text = bytesToByteString(new Uint8Array(await new Response(out as BodyInit).arrayBuffer()));
  return { text, head, isNoted: head.headers.some(([name]) => name === READS_MARKED[0]) };
}

describe("a document whose page can tell where it is", () => {
  const others = `<p>\xcf\xf0\xe8\xe2\xe5\xf2 location</p><!-- <script>${READ}</script> --><textarea><script>${READ}</script></textarea>`;

  it("has its scripts marked, however it is cut, and all other bytes as they were", async () => {
    const documentOf = (script: string) =>
      `${others}<script>${script}</script><SCRIPT type="module">${script}</SCRIPT \n><script src="/a.js">${READ}</script>` +
      `<script type="application/json">${READ}</script><script nonce=a>"\xef\xf0"+${READ}</script>${others}<script>${script}`;
    for (const piece of [1, 2, 3, 7, 64, 1 << 20]) {
      const { text, isNoted } = await passed(documentOf(READ), { piece });
      expect(text).toBe(documentOf(MARKED));
      expect(isNoted).toBe(true);
      expect(withoutReadMarks(text)).toBe(documentOf(READ));
    }
  });

  it.each(['<a b="', "<!doctype ", "<?x "])(
    "comes as it is behind %s that does not end, and is not waited for",
    async (start) => {
      let pieces = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            pieces += 1;
            controller.enqueue(byteStringToBytes(pieces === 1 ? start : "x".repeat(65_536)));
            if (pieces === 40) controller.close();
          },
        },
        { highWaterMark: 0 },
      );
      const request: RequestHead = { ...requestHead, destination: "document", marksReads: true };
      const passing = await stage.apply({ head: { ...responseHead, status: 200, headers: HTML }, body }, request);
      const reader = (passing.body as ReadableStream<Uint8Array>).getReader();
      const first = await reader.read();
      expect(pieces).toBeLessThan(25);
      let length = first.value?.length ?? 0;
      for (let read = await reader.read(); !read.done; read = await reader.read()) length += read.value.length;
      expect(length).toBe(start.length + 39 * 65_536);
    },
  );

  it("has event handlers in attributes marked, by what stands in their quotes", async () => {
    for (const [written, marks] of [
      [
        '<a onclick="share(location.href)" href=/location>',
        `<a onclick="${READ_MARKS.prelude}share(ropeway$(location,ropeway$).href)" href=/location>`,
      ],
      [
        "<A HREF=x ONCLICK = 'return top!=self'>",
        `<A HREF=x ONCLICK = '${READ_MARKS.prelude}return ropeway$(top,ropeway$)!=self'>`,
      ],
      [
        '<p onclick="a(&quot;&amp;&quot;, location.host)">',
        `<p onclick="${READ_MARKS.prelude}a(&#34;&amp;&#34;, ropeway$(location,ropeway$).host)">`,
      ],
      [
        "<img alt=x><body onload='f(location.href)'onresize=\"g()\">",
        `<img alt=x><body onload='${READ_MARKS.prelude}f(ropeway$(location,ropeway$).href)'onresize="g()">`,
      ],
      [
        "<a title=x onclick=f(location.href)><a onclick=g(top==self,'\"')>",
        `<a title=x onclick="${READ_MARKS.prelude}f(ropeway$(location,ropeway$).href)"><a onclick="${READ_MARKS.prelude}g(ropeway$(top,ropeway$)==self,'&#34;')">`,
      ],
      [
        `<a href="javascript:f(location.href)">a</a><area href=' JavaScript:top.f(self!=top)'><a href=javascript:f()>b</a>`,
        `<a href="javascript:${READ_MARKS.prelude}f(ropeway$(location,ropeway$).href)">a</a><area href=' JavaScript:${READ_MARKS.prelude}ropeway$(top,ropeway$).f(self!=ropeway$(top,ropeway$))'><a href=javascript:f()>b</a>`,
      ],
    ] as const)
      for (const piece of [1, 1 << 20]) {
        const { text } = await passed(written, { piece });
        expect(text).toBe(marks);
        if (!/&|=\w+\(/.test(written)) expect(withoutReadMarks(text)).toBe(written);
      }
    for (const kept of [
      '<a href="javascript:f(%22a%22, location.host)">',
      '<a href="javascript:f()\nlocation.reload()">',
      '<a href="/javascript:location.host">',
      '<a onclick="f(">location.href</a>',
      '<a data-onclick="location.href" title="onclick=location.href">',
      '<a onclick="f(&nbsp;, location.href)">',
      "<a onclick=\"location='/x'\">",
      `<a onclick="f('\xef', location.href)">`,
    ])
      expect((await passed(kept)).text).toBe(kept);
    const many = '<a onclick="f(location)">'.repeat(2_000);
    expect((await passed(many)).text.split(READ_MARKS.prelude).length - 1).toBe(512);
  });

  it("has no more than 512 texts parsed, however short they are, and whether or not there is something to mark", async () => {
    const markedOf = async (first: string) => {
      const { text } = await passed(`${first.repeat(600)}<script>${READ}</script>`);
      return text.split(READ_MARKS.prelude).length - 1;
    };
    expect(await markedOf(`<script>${READ}</script>`)).toBe(512);
    expect(await markedOf("<script>location=1</script>")).toBe(0);
    expect(await markedOf('<a onclick="location=1">')).toBe(0);
    // What mentions none is not parsed.
    expect(await markedOf('<script>f()</script><a onclick="f()">')).toBe(1);
  });

  it("keeps them where a policy allows scripts by their text", async () => {
    const script = `<script>${READ}</script>`;
    const field: HeaderList = [...HTML, ["content-security-policy", "script-src 'sha256-abc'"]];
    expect((await passed(script, { headers: field, asked: { destination: "document" } })).text).toBe(script);
    const meta = `<meta http-equiv=content-security-policy content="script-src 'sha256-abc'">${script}`;
    expect((await passed(meta)).text).toBe(meta);
    const coded = meta.replaceAll("'", "&#x27;");
    expect((await passed(coded)).text).toBe(coded);
  });

  it("keeps text that only looks like scripts, in encodings that are no ASCII", async () => {
    const script = `<script>${READ}</script>`;
    for (const charset of ["UTF-16LE", "utf-16", '"iso-2022-jp"', "csUnicode"]) {
      const headers: HeaderList = [["content-type", `text/html; charset=${charset}`]];
      const { text, isNoted } = await passed(script, { headers, asked: { destination: "document" } });
      expect([text, isNoted]).toEqual([script, false]);
    }
    for (const opening of ["\xff\xfe", "\xfe\xff", "<meta charset=ISO-2022-JP>"])
      expect((await passed(opening + script, { piece: 1 })).text).toBe(opening + script);
  });

  it("keeps a script that is too long, and all behind too much of it", async () => {
    const long = `<script>${READ};${" ".repeat(140_000)}</script>`;
    const { text } = await passed(`${long}<script>${READ}</script>`, { piece: 10_000 });
    expect(text).toBe(`${long}<script>${MARKED}</script>`);
    const many = `<script>${READ};${" ".repeat(100_000)}</script>`.repeat(6);
    expect((await passed(many)).text.split("ropeway$||").length - 1).toBe(2);
  });
});

describe("a script", () => {
  it("is marked, the second time from memory, without a length", async () => {
    const text = `${READ};${"/*long*/".repeat(1000)}`;
    const headers: HeaderList = [...SCRIPT, ["content-length", String(text.length)], ["etag", '"a"']];
    for (const _ of [1, 2]) {
      const { text: marked, head } = await passed(text, { headers });
      expect(marked).toBe(markReads(text));
      expect(head.headers).toEqual([...SCRIPT, ["etag", '"a"'], READS_MARKED]);
    }
  });

  it.each([
    ["nobody can tell where it is", { asked: { marksReads: false } }],
    ["a part was asked for", { asked: { headers: [["range", "bytes=0-5"]] as HeaderList } }],
    ["its origin says so", { headers: [...SCRIPT, ["cache-control", "no-transform"]] as HeaderList }],
    ["it has another type", { headers: [["content-type", "text/plain"]] as HeaderList }],
    ["a script reads it", { asked: { destination: "" as const } }],
  ])("is left alone where %s", async (_, how) => {
    const { text, isNoted } = await passed(READ, { headers: SCRIPT, ...how });
    expect([text, isNoted]).toEqual([READ, false]);
  });

  it("is left alone where it is no UTF-8, or too long", async () => {
    for (const text of [`"\xcf\xf0";${READ}`, `${READ};${" ".repeat(1_100_000)}`])
      expect((await passed(text, { headers: SCRIPT })).text).toBe(text);
  });

  it("takes as much room as it has bytes, where nobody tells its length", async () => {
    const room = new Room(900_000, () => 0);
    const small = new NamesStage(room, setTimer);
    const script = (length: number) => `${READ};${" ".repeat(length)}`;
    const isMarked = async (length: number) => {
      const { text } = await passed(script(length), { headers: SCRIPT, through: small, piece: 10_000 });
      return text !== script(length);
    };
    expect(await isMarked(700_000)).toBe(true);
    expect(await isMarked(880_000)).toBe(false);
    expect(room.taken).toBe(0);
    room.take({}, 600_000);
    expect(await isMarked(200_000)).toBe(true);
    expect(await isMarked(300_000)).toBe(false);
  });

  it("is left alone after too many others, until some time later, and marked from memory", async () => {
    const timers: (() => void)[] = [];
    const busy = new NamesStage(new Room(1 << 24, () => 0), (task) => {
      timers.push(task);
      return () => {};
    });
    const script = (number: number) => `${READ};/*${number}*/${" ".repeat(1_000_000)}`;
    const isMarked = async (number: number) =>
      (await passed(script(number), { headers: SCRIPT, through: busy })).text !== script(number);
    const marks: boolean[] = [];
    for (let number = 0; number < 10; number++) marks.push(await isMarked(number));
    expect(marks).toEqual([true, true, true, true, true, true, true, true, false, false]);
    expect(await isMarked(7)).toBe(true);
    for (const task of timers) task();
    expect(await isMarked(9)).toBe(true);
  });

  it("is as its origin sent it once the marks are out", async () => {
    const body = new Response(MARKED).body as ReadableStream<Uint8Array<ArrayBuffer>>;
    expect(await new Response(unmarkedBody(body)).text()).toBe(READ);
  });
});

import { describe, expect, it } from "vitest";
import { settle } from "../../../shared/testing/turns.ts";
import { type Circumstances, load } from "./testing/push-rig.ts";

const SITE = "https://site.example";
const CSS = { type: "text/css; charset=utf-8" };
const JS = { type: "text/javascript" };

/** What is asked for when all that a document leads to has come. */
async function askedFor(html: string, texts: Record<string, readonly string[]>, more: Circumstances) {
  const rig = load({ texts: (url) => texts[url.replace(SITE, "")] ?? [], ...more });
  rig.write(html);
  await settle();
  return rig.asked.slice(1).map(({ head }) => head);
}

describe("what is pushed since a module imports it", () => {
  it("is asked for as the module would, and each once however they import each other", async () => {
    const texts = {
      "/a.js": ['import"./b.js";import"./c.js";go()'],
      "/b.js": ['import"./a.js";'],
      "/c.js": ['import"./b.js";'],
    };
    const heads = await askedFor("<script type=module src=/a.js></script>", texts, JS);
    expect(heads).toMatchObject([
      {
        url: `${SITE}/b.js`,
        destination: "script",
        mode: "cors",
        credentials: "same-origin",
        referrer: `${SITE}/a.js`,
      },
      { url: `${SITE}/c.js` },
    ]);
  });

  it.each([
    ["a script that is no module", "<script src=/a.js></script>", JS],
    ["a module of another type", "<script type=module src=/a.js></script>", CSS],
  ])("is nothing of %s", async (_, html, circumstances) => {
    expect(await askedFor(html, { "/a.js": ['import "./b.js";'] }, circumstances)).toEqual([]);
  });

  it("is looked for at the beginning, and in a few chunks", async () => {
    const html = "<script type=module src=/a.js></script>";
    const late = { "/a.js": [" ".repeat(9_000), 'import "./b.js";'] };
    expect(await askedFor(html, late, JS)).toEqual([]);
    const drops = { "/a.js": [...Array.from({ length: 20 }, () => " "), 'import "./b.js";'] };
    expect(await askedFor(html, drops, JS)).toEqual([]);
  });

  it("stops with the document, and at its bounds", async () => {
    const chain = (url: string) => [`import "./${Number(/\d+/.exec(url)?.[0]) + 1}.js";`];
    const rig = load({ ...JS, texts: chain, request: { pushes: 20 } });
    rig.write("<script type=module src=/1.js></script>");
    await settle(200);
    expect(rig.asked).toHaveLength(20);
    const stopped = load({ ...JS, texts: chain });
    stopped.write("<script type=module src=/1.js></script>");
    stopped.abort.abort();
    await settle();
    expect(stopped.asked).toHaveLength(1);
  });
});

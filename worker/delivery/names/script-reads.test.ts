import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "acorn";
import { describe, expect, it, vi } from "vitest";
import { READ_MARKS, withoutReadMarks } from "../../../shared/web/read-marks.ts";
import { markReads } from "./script-reads.ts";

/** Reads as «…», destructured windows as «…1», what is posted to as «…2», shorthand as «0…», so that the table can be read. */
const shown = (text: string): string | null =>
  markReads(text)
    ?.replace(READ_MARKS.prelude, "§")
    .replaceAll("location:ropeway$(location,ropeway$,0)", "«0location»")
    .replaceAll("ropeway$(", "«")
    .replaceAll(",ropeway$,1)", "1»")
    .replaceAll(",ropeway$,2)", "2»")
    .replaceAll(",ropeway$)", "»") ?? null;

describe("marks of a script", () => {
  it.each([
    ["location.href", "§«location».href"],
    ["'use strict';\"other\";location.href", "'use strict';\"other\";§«location».href"],
    ["if(self!==top)top.location=self.location", "§if(self!==«top»)«top».location=«self.location»"],
    ["window.top.location.replace(location)", "§««window.top».location».replace(«location»)"],
    ["document['location'].host", "§«document['location']».host"],
    ["e.top!==e.self;rect.top<5", "§«e.top»!==e.self;rect.top<5"],
    ["const{location:l,top}=window", "§const{location:l,top}=«window1»"],
    ["({location}=w)", "§({location}=«w1»)"],
    ["f({location})", "§f({«0location»})"],
    ["a?.location.href;a?.location?.href;a?.location", "§a?.location.href;«a?.location»?.href;«a?.location»"],
    ["location?.href", "§«location»?.href"],
    ["typeof location;typeof self.location", "§typeof location;typeof «self.location»"],
    ["`\u0024{location}`", "§`\u0024{«location»}`"],
    ["(location)=>location.x", "§(location)=>«location».x"],
    ["(({location,b:t=location})=>t)", "§(({location,b:t=«location»})=>t)"],
    ["new top.A(location);new(top.f())", "§new top.A(«location»);new(«top».f())"],
    ["({location:l}=(a,w));x={location}=w", "§({location:l}=(a,«w1»));x={location}=w"],
    ["location;f({l\\u006fcation})", "§«location»;f({l\\u006fcation})"],
    ["delete a?.location;(a?.location)();location", "§delete a?.location;(a?.location)();«location»"],
    ["let self={};class A{#location=self.location}", "§let self={};class A{#location=«self.location»}"],
    ["/[/]\\/location/u.test(location)/2/i", "§/[/]\\/location/u.test(«location»)/2/i"],
    ["let a,a;export{b};location", "§let a,a;export{b};«location»"],
    ["import'x';await 1;location", "§import'x';await 1;«location»"],
    ["a.host===location.host", "§«a.host»===«location».host"],
    ["f(a.href,b?.src,c.origin.x)", "§f(«a.href»,«b?.src»,«c.origin».x)"],
    ["parent.a.location='/x'", "§«parent.a».location='/x'"],
    ["top.b.location=f(parent.location='x')", "§««top».b».location=f(«parent».location='x')"],
    ["x=import.meta.url", "§x=«import.meta.url»"],
    ["const t=top;", "§const t=«top»;"],
    ["<!-- a\nlocation", "<!-- a\n§«location»"],
    ["\ufefflocation", "\ufeff§«location»"],
    ["#!x\nlocation", "#!x\n§«location»"],
    ["parent.postMessage(location)", "§«parent2».postMessage(«location»)"],
    ["a?.b.postMessage(1);(b||c)?.postMessage(2)", "§a?.b.postMessage(1);(«b||c2»)?.postMessage(2)"],
    ["a?.b?.postMessage(1);f(a).postMessage(1)", "§«a?.b2»?.postMessage(1);«f(a)2».postMessage(1)"],
    ["top.postMessage(1);postMessage(2)", "§«top2».postMessage(1);postMessage(2)"],
    ["(a,x=top).postMessage(1);w.origin.postMessage(2)", "§(a,«x=«top»2»).postMessage(1);«w.origin2».postMessage(2)"],
    ["a.postMessage(b.postMessage).postMessage(1)", "§««a2».postMessage(b.postMessage)2».postMessage(1)"],
    ["window[0]===a.contentWindow[i];w[0];window[name]", "§«window[0]2»===«a.contentWindow[i]2»;w[0];window[name]"],
    [
      "window[0].postMessage(1);top[1].x;self[0]=1;parent[i]()",
      "§«window[0]2».postMessage(1);««top»[1]2».x;self[0]=1;parent[i]()",
    ],
    ["parent[0].location='/x';window?.[0].a", "§««parent[0]2»».location='/x';window?.[0].a"],
    ["const{location}=w.origin", "§const{location}=««w.origin»1»"],
    [
      "$(a).prop('href').split('#');x.prop('src');x.prop('src',1)",
      "§«$(a).prop('href')».split('#');«x.prop('src')»;x.prop('src',1)",
    ],
    ["a?.prop('href').length;a?.prop('href');b.prop('id')", "§a?.prop('href').length;«a?.prop('href')»;b.prop('id')"],
  ])("%s", (text, marks) => {
    expect(shown(text)).toBe(marks);
    expect(withoutReadMarks(markReads(text) ?? "")).toBe(text);
  });

  it.each([
    "location='/x'",
    "a.href='/x';a.href+='y';a.action();({href:a.src}=b)",
    "location+='#x'",
    "window.location='/x'",
    "this.location='/x';document.location='/y'",
    "for(location of x);",
    "[location]=x",
    "class A{location=1;top(){}}",
    "x={location:1,top:2}",
    "x.location()",
    "new x.location",
    "delete x.location",
    "x.location`a`",
    "new location.A`x`",
    "new location.b.C",
    "location:for(;;)break location",
    "function location(location){}",
    "try{}catch(location){}",
    "import{location}from'x'",
    "'location'",
    "/location/",
    "// location",
    "a in[0].location",
    "a.postMessage;a.postMessage.call(b);a['postMessage'](1);class A extends B{a(){super.postMessage(1)}}",
    "var top=box.top;el.style.top=top+'px'",
    "location is no script(",
    "ropeway$;location",
    "var globalThis;location",
    "const{a:globalThis}=b;location",
    "import globalThis from'x';location",
    "",
  ])("are none in %s", (text) => {
    expect(markReads(text)).toBeNull();
  });

  it("leave libraries scripts, and go out of them again", () => {
    const places = [
      "swagger-ui-dist",
      "jquery/dist",
      "bootstrap/dist/js",
      "impress.js/js",
      "reveal.js/dist",
      "webslides/static/js",
    ];
    const files = places
      .map((name) => join(import.meta.dirname, "../../../e2e/bench/node_modules", name))
      .concat(join(import.meta.dirname, "../../../node_modules/playwright-core/lib/vite/traceViewer"))
      .flatMap(scriptsIn);
    const marked = files
      .map((file) => readFileSync(file, "utf8"))
      .flatMap((text) => {
        const marks = markReads(text);
        if (marks === null) return [];
        expect(withoutReadMarks(marks) === text).toBe(true);
        const sourceType = /^(?:import|export)\b|[;}](?:import|export)[\s{*]/m.test(text) ? "module" : "script";
        return [parse(marks, { ecmaVersion: "latest", sourceType }).body.length];
      });
    expect(marked.length).toBeGreaterThan(0);
  });

  it("make no script many times as long", () => {
    expect(markReads("location;".repeat(10_001))).toBeNull();
    expect(markReads(`a${".top".repeat(10_002)}`)).toBeNull();
  });

  it("take no time that grows with the square of its names", () => {
    const names = Array.from({ length: 5_000 }, (_, at) => at.toString(36));
    const looks = vi.spyOn(Array.prototype, "indexOf");
    markReads(`location;let x${names.map((name) => `,_${name}`).join("")};export{x}`);
    // Of each list that is looked through, all might be.
    const looked = looks.mock.contexts.reduce((sum: number, list) => sum + (list as unknown[]).length, 0);
    looks.mockRestore();
    expect(looked).toBeLessThan(names.length);
  });

  it("take no time that grows with what a regular expression says", () => {
    const compiled = vi.fn();
    const native = RegExp;
    vi.stubGlobal("RegExp", function Counted(...parts: [string, string]) {
      compiled(parts);
      return new native(...parts);
    });
    const marks = markReads(`location;/[${"\\p{L}".repeat(500)}]/u;/${"(?<a>)|".repeat(500)}/`);
    vi.unstubAllGlobals();
    expect(marks).not.toBeNull();
    expect(compiled).not.toHaveBeenCalled();
    expect(markReads("location;/a\\\n/")).toBeNull();
  });

  it("are none where a script nests deeper than can be read", () => {
    expect(markReads(`${"[".repeat(200_000)}location`)).toBeNull();
  });
});

function scriptsIn(place: string): string[] {
  try {
    return readdirSync(place)
      .filter((name) => /\.m?js$/.test(name) && statSync(join(place, name)).size < 200_000)
      .slice(0, 4)
      .map((name) => join(place, name));
  } catch {
    // Not among the packages of this machine.
    return [];
  }
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requestHead } from "../../../shared/testing/http/request-heads.ts";
import { basic, digest, parseChallenges, SignIns } from "./sign-ins.ts";

describe("parseChallenges", () => {
  it("reads several in a line, with quotes, commas and tokens", () => {
    expect(parseChallenges('Newauth realm="apps", type=1, title="Login to \\"apps\\"", Basic realm="simple"')).toEqual([
      { scheme: "newauth", parameters: { realm: "apps", type: "1", title: 'Login to "apps"' } },
      { scheme: "basic", parameters: { realm: "simple" } },
    ]);
    expect(parseChallenges("Negotiate, BASIC Realm = a , charset=UTF-8")).toEqual([
      { scheme: "negotiate", parameters: {} },
      { scheme: "basic", parameters: { realm: "a", charset: "UTF-8" } },
    ]);
    expect(parseChallenges("")).toEqual([]);
    expect(parseChallenges(', "x"')).toEqual([]);
  });

  it("ends with any text", () => {
    fc.assert(fc.property(fc.string(), (text) => Array.isArray(parseChallenges(text))));
  });
});

it("writes Basic as RFC 7617 has it, in UTF-8", () => {
  expect(basic({ name: "Aladdin", password: "open sesame" })).toBe("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  expect(basic({ name: "test", password: "123£" })).toBe("Basic dGVzdDoxMjPCow==");
});

describe("digest", () => {
  const cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
  const request = { method: "GET", uri: "/dir/index.html", count: 1, cnonce };
  const given = { name: "Mufasa", password: "Circle of Life" };
  const challenge = (algorithm: string) =>
    parseChallenges(
      `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, ` +
        'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"',
    )[0] as ReturnType<typeof parseChallenges>[number];

  // RFC 7616 section 3.9.1.
  it.each([
    ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
    ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"],
  ])("answers with %s as in RFC 7616", (algorithm, response) => {
    const value = digest(challenge(algorithm), given, request);
    expect(value).toContain(`response="${response}"`);
    expect(value).toContain('nc=00000001, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth');
    expect(value).toContain(`algorithm=${algorithm}`);
  });

  // RFC 2069 section 2.4, as corrected by its errata 749.
  it("answers servers of before qop", () => {
    const [old] = parseChallenges(
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    );
    const value = digest(old as never, { name: "Mufasa", password: "CircleOfLife" }, request);
    expect(value).toContain('response="1949323746fe6a43ef61f9606e7febea"');
    expect(value).not.toContain("qop");
  });
});

const URL_A = "https://a.example/private?x=1";
const head = {
  ...requestHead,
  url: URL_A,
  mode: "navigate",
  origin: null,
  topLevelOrigin: "https://a.example",
  headers: [],
} as const;
const refusal = (challenge: string, url = URL_A) => ({ url, headers: [["www-authenticate", challenge]] as const });
const authorizationOf = (signIns: SignIns, change: object = {}) =>
  new Map(signIns.marked({ ...head, ...change }).headers).get("authorization");

it("sends what the person has given to its origin alone, for navigations and the origin's own pages", () => {
  const signIns = new SignIns();
  expect(signIns.ask(refusal('Bearer realm="x"'), head, null)).toBeNull();
  expect(signIns.ask(refusal('Basic realm="Club"'), head, null)).toEqual({
    origin: "https://a.example",
    realm: "Club",
    url: URL_A,
    isWrong: false,
    isPart: false,
  });
  expect(authorizationOf(signIns)).toBeUndefined();
  signIns.give("https://b.example", { name: "a", password: "b" });
  signIns.give("https://a.example", { name: "a", password: "b" });
  expect(authorizationOf(signIns)).toBe("Basic YTpi");
  expect(authorizationOf(signIns, { mode: "no-cors", origin: "https://a.example" })).toBe("Basic YTpi");
  expect(authorizationOf(signIns, { mode: "no-cors", origin: "https://b.example" })).toBeUndefined();
  expect(authorizationOf(signIns, { url: "https://b.example/" })).toBeUndefined();
  expect(authorizationOf(signIns, { url: "http://a.example/" })).toBeUndefined();
  expect(authorizationOf(signIns, { mode: "cors", origin: "https://a.example", credentials: "omit" })).toBeUndefined();
  expect(authorizationOf(signIns, { headers: [["authorization", "Own"]] })).toBe("Own");
});

it("forgets what is wrong, and asks again", () => {
  const signIns = new SignIns();
  signIns.ask(refusal("Basic realm=Club"), head, null);
  signIns.give("https://a.example", { name: "a", password: "b" });
  expect(signIns.ask(refusal("Basic realm=Club"), signIns.marked(head), null)).toMatchObject({ isWrong: true });
  expect(authorizationOf(signIns)).toBeUndefined();
});

it("prefers the strongest that it can answer, counts, and takes another nonce without a question", () => {
  const signIns = new SignIns(() => "random");
  const both = 'Basic realm="Club", Digest realm="Club", nonce="1", qop="auth", algorithm=MD5';
  signIns.ask(refusal(`${both}, Digest realm="Club", nonce="2", qop="auth", algorithm=SHA-512-256`), head, null);
  signIns.give("https://a.example", { name: "a", password: "b" });
  expect(authorizationOf(signIns)).toMatch(/^Digest username="a", realm="Club", uri="\/private\?x=1".*nc=00000001/);
  const sent = authorizationOf(signIns);
  expect(sent).toContain("nc=00000002");
  const stale = 'Digest realm="Club", nonce="3", qop="auth", algorithm=MD5, stale=true';
  const [signed, other] = [signIns.marked(head), signIns.marked(head)];
  expect(signIns.again(refusal(stale), signed, head)).toBe(head);
  // Another request that went out with the former nonce.
  expect(signIns.again(refusal(stale), other, head)).toBe(head);
  expect(signIns.again(refusal(stale), head, head)).toBeNull();
  expect(authorizationOf(signIns)).toMatch(/nonce="3".*nc=00000001/);
});

it("asks the address that a redirect led to for itself, without a digest of the first", () => {
  const signIns = new SignIns(() => "random");
  const challenge = 'Digest realm="Club", nonce="1", qop="auth"';
  signIns.ask(refusal(challenge), head, null);
  signIns.give("https://a.example", { name: "a", password: "b" });
  const moved = refusal(challenge, "https://a.example/private/#there");
  const again = signIns.again(moved, signIns.marked(head), head);
  expect(again).toEqual({ ...head, url: "https://a.example/private/" });
  expect(authorizationOf(signIns, again ?? {})).toContain('uri="/private/"');
  // A form's answer is another request. It was not wrong, and nothing is taken away.
  const form = { ...head, method: "POST" };
  expect(signIns.again(moved, signIns.marked(form), form)).toBeNull();
  expect(signIns.ask(moved, signIns.marked(form), null)).toMatchObject({ isWrong: false });
  expect(authorizationOf(signIns)).toContain('username="a"');
});

it("signs the handshake of a page's socket as the GET that it is", () => {
  const signIns = new SignIns(() => "random");
  signIns.ask(refusal('Digest realm="Club", nonce="1"'), head, null);
  signIns.give("https://a.example", { name: "a", password: "b" });
  const socket = { method: "CONNECT", protocol: "websocket", mode: "cors", origin: "https://a.example" } as const;
  expect(authorizationOf(signIns, socket)).toBe(authorizationOf(signIns));
  expect(authorizationOf(signIns, { ...socket, origin: "https://b.example" })).toBeUndefined();
});

it("sends nothing to a frame below another site's page", () => {
  const signIns = new SignIns();
  signIns.ask(refusal("Basic realm=Club"), head, null);
  signIns.give("https://a.example", { name: "a", password: "b" });
  const below = { topLevelOrigin: "https://b.example" };
  expect(authorizationOf(signIns, { ...below, destination: "iframe", origin: "https://b.example" })).toBeUndefined();
  expect(authorizationOf(signIns, { ...below, mode: "cors", origin: "https://a.example" })).toBeUndefined();
});

it("takes what another origin's redirect leads to for no answer to what was given", () => {
  const signIns = new SignIns();
  signIns.ask(refusal("Basic realm=Club"), head, null);
  signIns.give("https://a.example", { name: "a", password: "b" });
  const other = { ...head, url: "https://b.example/", topLevelOrigin: "https://b.example" };
  signIns.ask(refusal("Basic realm=Club", other.url), other, null);
  signIns.give("https://b.example", { name: "c", password: "d" });
  expect(signIns.ask(refusal("Basic realm=Club"), signIns.marked(other), null)).toMatchObject({ isWrong: false });
  expect(authorizationOf(signIns)).toBe("Basic YTpi");
});

it("asks the person where a server calls each nonce stale", () => {
  const signIns = new SignIns();
  const stale = refusal('Digest realm="Club", nonce="1", qop="auth", stale=true');
  signIns.ask(stale, head, null);
  signIns.give("https://a.example", { name: "a", password: "b" });
  expect(signIns.again(stale, signIns.marked(head), head)).toBe(head);
  const again = signIns.marked(head);
  expect(signIns.again(stale, again, head)).toBeNull();
  expect(signIns.ask(stale, again, null)).toMatchObject({ isWrong: true });
});

it("answers no algorithm that it does not know, whatever its name", () => {
  for (const algorithm of ["constructor", "__proto__", "toString-sess"])
    expect(new SignIns().ask(refusal(`Digest realm=x, nonce=1, algorithm=${algorithm}`), head, null)).toBeNull();
});

it("shows little of a realm, in the order in which it is written, and sends all of it", () => {
  const realm = `\u202e\u2066${"é".repeat(500)}`;
  const bytes = String.fromCharCode(...new TextEncoder().encode(realm));
  const signIns = new SignIns();
  expect(signIns.ask(refusal(`Digest realm="${bytes}", nonce=1`), head, null)).toMatchObject({ realm: "é".repeat(80) });
  signIns.give("https://a.example", { name: "a", password: "b" });
  expect(authorizationOf(signIns)).toContain(`realm="${bytes}"`);
});

describe("a part of a page", () => {
  const A = "https://a.example";
  const part = { ...head, mode: "cors", destination: "", origin: A, credentials: "same-origin" } as const;
  const basicRefusal = refusal("Basic realm=Club");
  const given = { name: "a", password: "b" };

  it("asks for the page's own server, where the request would take along what the person gives", () => {
    const signIns = new SignIns();
    const wanted = { origin: A, url: URL_A, realm: "Club", isWrong: false, isPart: true };
    expect(signIns.ask(basicRefusal, part, part)).toEqual(wanted);
    for (const change of [
      { credentials: "omit" },
      { origin: "https://b.example" },
      { topLevelOrigin: "https://b.example" },
      { headers: [["authorization", "Own"]] },
      { method: "POST" },
      { url: "https://b.example/" },
    ] as const) {
      const other = { ...part, ...change };
      expect(signIns.ask(basicRefusal, other, other)).toBeNull();
    }
  });

  it("asks no more once the person has answered, and says so where the answer was wrong", () => {
    const signIns = new SignIns();
    signIns.ask(basicRefusal, part, part);
    signIns.give(A, given);
    // It was on its way meanwhile.
    expect(signIns.ask(basicRefusal, part, part)).toBeNull();
    const [first, second] = [signIns.marked(part), signIns.marked(part)];
    expect(signIns.ask(basicRefusal, first, part)).toMatchObject({ isWrong: true, isPart: true });
    signIns.give(A, { ...given, password: "c" });
    // What the former password got takes nothing away, and is asked for with the new one.
    expect(signIns.again(basicRefusal, second, part)).toBe(part);
    expect(signIns.ask(basicRefusal, second, part)).toBeNull();
    expect(authorizationOf(signIns)).toBe("Basic YTpj");
  });

  it("takes nothing away for another realm of the server", () => {
    const signIns = new SignIns();
    signIns.ask(basicRefusal, head, null);
    signIns.give(A, given);
    const other = refusal("Basic realm=Other");
    expect(signIns.ask(other, signIns.marked(part), part)).toBeNull();
    expect(signIns.ask(other, signIns.marked(head), null)).toMatchObject({ realm: "Other", isWrong: false });
    expect(authorizationOf(signIns)).toBe("Basic YTpi");
  });
});

import { describe, expect, it } from "vitest";
import type { RequestHead } from "../../shared/http/heads.ts";
import { responseHead } from "../../shared/testing/http/exchange-rig.ts";
import { requestHead } from "../../shared/testing/http/request-heads.ts";
import { dictionaryPlace, mayShareContext } from "./dictionaries.ts";

const SITE = "https://site.example";
const OTHER = "https://other.example";
const place = (change: Partial<RequestHead>) =>
  dictionaryPlace({ ...requestHead, method: "GET", url: `${SITE}/a`, origin: SITE, topLevelOrigin: SITE, ...change });
const navigation = { mode: "navigate", destination: "document", credentials: "include" } as const;
const fetched = { mode: "cors", destination: "", credentials: "same-origin" } as const;

describe("bodies share a context", () => {
  it("at any address of an origin, for who asks alike", () => {
    expect(place(navigation)).toBe(place({ ...navigation, url: `${SITE}/b?c`, origin: null }));
    expect(place({ ...fetched, destination: "script" })).toBe(place({ ...fetched, url: `${SITE}/b` }));
    expect(place({ ...fetched, origin: OTHER })).toBe(place({ ...fetched, origin: OTHER, url: `${SITE}/b` }));
  });

  it("not across origins, partitions, askers, or credentials", () => {
    const places = [
      place(navigation),
      place({ ...navigation, origin: OTHER }),
      place({ ...navigation, topLevelOrigin: OTHER }),
      place({ ...navigation, url: `${OTHER}/a` }),
      place(fetched),
      place({ ...fetched, credentials: "omit" }),
      place({ ...fetched, topLevelOrigin: OTHER }),
      place({ ...fetched, origin: OTHER }),
      place({ ...fetched, origin: OTHER, credentials: "omit" }),
      place({ ...fetched, url: `${SITE}:8443/a` }),
    ];
    expect(new Set(places).size).toBe(places.length);
    expect(places).not.toContain(null);
  });

  it("never where the asker cannot read them, or they are one request's", () => {
    for (const change of [
      { ...fetched, origin: OTHER, mode: "no-cors" },
      { ...fetched, origin: OTHER, credentials: "include" },
      { ...fetched, method: "POST" },
      { ...fetched, headers: [["authorization", "Basic eA=="]] },
      { ...fetched, headers: [["range", "bytes=0-9"]] },
      { ...fetched, url: "ropeway:///site" },
    ] as Partial<RequestHead>[]) {
      expect(place(change)).toBeNull();
    }
  });

  it("where the response is whole, and may be stored", () => {
    expect(mayShareContext(responseHead)).toBe(true);
    expect(mayShareContext({ ...responseHead, redirected: true })).toBe(false);
    expect(mayShareContext({ ...responseHead, status: 206 })).toBe(false);
    expect(mayShareContext({ ...responseHead, continues: true })).toBe(false);
    expect(mayShareContext({ ...responseHead, headers: [["cache-control", "private, no-store"]] })).toBe(false);
  });
});

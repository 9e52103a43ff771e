import { expect, it } from "vitest";
import { toBase64Url } from "../base-encodings.ts";
import { type PhoneFacts, readPhoneTraits, sessionFields } from "./phone-traits.ts";

const heard = (phone: PhoneFacts) =>
  readPhoneTraits(sessionFields(phone).map(([name, value]) => [name, value] as const));

const LEAST: PhoneFacts = {
  userAgent: "Phone/1",
  acceptLanguage: "sw",
  slotScheme: null,
  dictionaryKey: null,
  takesBrotli: false,
  images: null,
  blocksTrackers: false,
  savesData: false,
};
const KNOWN = { userAgent: "Phone/1", acceptLanguage: "sw", accept: {}, hasStore: true, takesReasons: true };

it("tells the edge of a phone that can and wants nothing", () => {
  expect(heard(LEAST)).toEqual(KNOWN);
});

it("tells the edge all that there is", () => {
  const key = new Uint8Array(32).fill(7);
  const phone: PhoneFacts = {
    ...LEAST,
    viewport: "412 915 2.625",
    accept: { image: "image/avif,*/*" },
    slotScheme: "https",
    dictionaryKey: toBase64Url(key),
    takesBrotli: true,
    images: { recoding: "balanced", most: 2_000_000 },
    blocksTrackers: true,
    savesData: true,
  };
  expect(heard(phone)).toEqual({
    ...KNOWN,
    viewport: { width: 412, height: 915, density: 2.625 },
    accept: { image: "image/avif,*/*" },
    slotScheme: "https",
    dictionaryKey: key,
    takesBrotli: true,
    images: { recoding: "balanced", most: 2_000_000 },
    blocksTrackers: true,
    savesData: true,
  });
});

it("asks for no pushes while it is not known what the browser would ask for", () => {
  expect(heard({ ...LEAST, slotScheme: "https", accept: null })).toEqual(KNOWN);
});

it("takes what makes no sense for unsaid", () => {
  const odd = ["accept-push", "sec-ropeway-viewport", "sec-ropeway-images", "sec-ropeway-dictionary", "save-data"];
  const traits = readPhoneTraits(odd.map((name) => [name, "odd"] as const));
  expect(traits).toEqual({ userAgent: "", acceptLanguage: "", accept: {} });
});

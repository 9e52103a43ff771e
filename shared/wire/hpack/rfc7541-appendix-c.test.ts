/** RFC 7541 appendix C.2 to C.6, byte for byte, in both directions. C.1 stands in integer.test.ts. */
import { describe, expect, test } from "vitest";
import type { HeaderField, Indexing } from "../frame.ts";
import { HpackDecoder } from "./header-decoder.ts";
import { HpackEncoder } from "./header-encoder.ts";

interface Exchange {
  readonly hex: string;
  readonly fields: readonly HeaderField[];
  /** The dynamic table afterwards, newest first as the RFC prints it. */
  readonly table: readonly HeaderField[];
  readonly tableBytes: number;
}

const limits = { maxListBytes: 16_384, maxFields: 100 };

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (octet) => octet.toString(16).padStart(2, "0")).join("");
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.replaceAll(/\s/g, "").match(/../g) ?? [], (octet) => Number.parseInt(octet, 16));
}

function expectExchanges(
  exchanges: readonly Exchange[],
  { tableBytes, huffman, indexing }: { tableBytes: number; huffman: boolean; indexing: Indexing },
): void {
  const encoder = new HpackEncoder({ maxTableBytes: tableBytes, huffman, indexing: () => indexing });
  const decoder = new HpackDecoder({ maxTableBytes: tableBytes, ...limits });
  for (const exchange of exchanges) {
    expect(toHex(encoder.encode(exchange.fields))).toBe(exchange.hex.replaceAll(/\s/g, ""));
    expect(decoder.decode(fromHex(exchange.hex))).toEqual(exchange.fields);
    for (const { table } of [encoder.snapshot(), decoder.snapshot()]) {
      expect(table.entries.toReversed()).toEqual(exchange.table);
      const bytes = table.entries.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
      expect(bytes).toBe(exchange.tableBytes);
    }
  }
}

describe("C.2 header field representations", () => {
  test.each<{ section: string; indexing: Indexing; exchange: Exchange }>([
    {
      section: "C.2.1 literal with indexing",
      indexing: "incremental",
      exchange: {
        hex: "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
        fields: [["custom-key", "custom-header"]],
        table: [["custom-key", "custom-header"]],
        tableBytes: 55,
      },
    },
    {
      section: "C.2.2 literal without indexing",
      indexing: "without",
      exchange: {
        hex: "040c 2f73 616d 706c 652f 7061 7468",
        fields: [[":path", "/sample/path"]],
        table: [],
        tableBytes: 0,
      },
    },
    {
      section: "C.2.3 literal never indexed",
      indexing: "never",
      exchange: {
        hex: "1008 7061 7373 776f 7264 0673 6563 7265 74",
        fields: [["password", "secret"]],
        table: [],
        tableBytes: 0,
      },
    },
    {
      section: "C.2.4 indexed",
      indexing: "incremental",
      exchange: { hex: "82", fields: [[":method", "GET"]], table: [], tableBytes: 0 },
    },
  ])("$section", ({ indexing, exchange }) => {
    expectExchanges([exchange], { tableBytes: 4096, huffman: false, indexing });
  });
});

/** C.3 and C.4 differ in the octets only. */
function requests(...hex: readonly [string, string, string]): readonly Exchange[] {
  const authority: HeaderField = [":authority", "www.example.com"];
  const noCache: HeaderField = ["cache-control", "no-cache"];
  const custom: HeaderField = ["custom-key", "custom-value"];
  return [
    {
      hex: hex[0],
      fields: [[":method", "GET"], [":scheme", "http"], [":path", "/"], authority],
      table: [authority],
      tableBytes: 57,
    },
    {
      hex: hex[1],
      fields: [[":method", "GET"], [":scheme", "http"], [":path", "/"], authority, noCache],
      table: [noCache, authority],
      tableBytes: 110,
    },
    {
      hex: hex[2],
      fields: [[":method", "GET"], [":scheme", "https"], [":path", "/index.html"], authority, custom],
      table: [custom, noCache, authority],
      tableBytes: 164,
    },
  ];
}

describe("C.3 and C.4 requests", () => {
  test("C.3 without Huffman coding", () => {
    const exchanges = requests(
      "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
      "8286 84be 5808 6e6f 2d63 6163 6865",
      "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    );
    expectExchanges(exchanges, { tableBytes: 4096, huffman: false, indexing: "incremental" });
  });

  test("C.4 with Huffman coding", () => {
    const exchanges = requests(
      "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
      "8286 84be 5886 a8eb 1064 9cbf",
      "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    );
    expectExchanges(exchanges, { tableBytes: 4096, huffman: true, indexing: "incremental" });
  });
});

/** C.5 and C.6 differ in the octets only. */
function responses(...hex: readonly [string, string, string]): readonly Exchange[] {
  const status302: HeaderField = [":status", "302"];
  const status307: HeaderField = [":status", "307"];
  const isPrivate: HeaderField = ["cache-control", "private"];
  const date21: HeaderField = ["date", "Mon, 21 Oct 2013 20:13:21 GMT"];
  const date22: HeaderField = ["date", "Mon, 21 Oct 2013 20:13:22 GMT"];
  const location: HeaderField = ["location", "https://www.example.com"];
  const gzip: HeaderField = ["content-encoding", "gzip"];
  const cookie: HeaderField = ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"];
  return [
    {
      hex: hex[0],
      fields: [status302, isPrivate, date21, location],
      table: [location, date21, isPrivate, status302],
      tableBytes: 222,
    },
    {
      hex: hex[1],
      fields: [status307, isPrivate, date21, location],
      table: [status307, location, date21, isPrivate],
      tableBytes: 222,
    },
    {
      hex: hex[2],
      fields: [[":status", "200"], isPrivate, date22, location, gzip, cookie],
      table: [cookie, gzip, date22],
      tableBytes: 215,
    },
  ];
}

describe("C.5 and C.6 responses, with evictions from a table of 256 bytes", () => {
  test("C.5 without Huffman coding", () => {
    const exchanges = responses(
      `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d
       546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
      "4803 3330 37c1 c0bf",
      `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f
       6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b
       2076 6572 7369 6f6e 3d31`,
    );
    expectExchanges(exchanges, { tableBytes: 256, huffman: false, indexing: "incremental" });
  });

  test("C.6 with Huffman coding", () => {
    const exchanges = responses(
      `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7
       8f0b 97c8 e9ae 82ae 43d3`,
      "4883 640e ffc1 c0bf",
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
       dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
    );
    expectExchanges(exchanges, { tableBytes: 256, huffman: true, indexing: "incremental" });
  });
});

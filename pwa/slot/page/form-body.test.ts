import { describe, expect, it } from "vitest";
import { encodeForm, parseEncoding, utf8, withQuery } from "./navigation-rules.ts";

function form(): FormData {
  const data = new FormData();
  data.append("a b", "ä&=");
  data.append("lines", "1\n2\r3\r\n4");
  data.append("file", new File(["content"], "f.txt", { type: "text/plain" }));
  return data;
}

const decode = (body: ArrayBuffer) => new TextDecoder().decode(body);

describe("encodeForm", () => {
  it("encodes for URLs", async () => {
    const { contentType, body } = await encodeForm(form(), "application/x-www-form-urlencoded", utf8);
    expect(contentType).toBe("application/x-www-form-urlencoded");
    expect(decode(body)).toBe("a+b=%C3%A4%26%3D&lines=1%0D%0A2%0D%0A3%0D%0A4&file=f.txt");
  });

  it("encodes multipart with files", async () => {
    const { contentType, body } = await encodeForm(form(), "multipart/form-data", utf8);
    const response = new Response(body, { headers: { "content-type": contentType } });
    const file = (await response.formData()).get("file");
    expect(file).toBeInstanceOf(File);
    expect(await (file as File).text()).toBe("content");
    expect(decode(body)).toContain("1\r\n2\r\n3\r\n4");
  });

  it("encodes plain text", async () => {
    const { body } = await encodeForm(form(), "text/plain", utf8);
    expect(decode(body)).toBe("a b=ä&=\r\nlines=1\r\n2\r\n3\r\n4\r\nfile=f.txt\r\n");
  });
});

it("replaces the action's query", () => {
  expect(withQuery("https://a.example/s?old=1#f", [["q", "x y"]], utf8)).toBe("https://a.example/s?q=x+y#f");
});

it("reads enctype values", () => {
  expect(parseEncoding("Multipart/Form-Data")).toBe("multipart/form-data");
  expect(parseEncoding("nonsense")).toBe("application/x-www-form-urlencoded");
});

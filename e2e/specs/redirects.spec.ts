import { expect, test } from "../fixtures/browser.ts";
import { receivedForm } from "../fixtures/received-form.ts";

const RULES = [
  { code: 301, method: "GET" },
  { code: 302, method: "GET" },
  { code: 303, method: "GET" },
  { code: 307, method: "POST" },
  { code: 308, method: "POST" },
] as const;

for (const { code, method } of RULES) {
  test(`a form post that meets ${code} becomes ${method}`, async ({ app, origin }) => {
    origin.page(
      "/",
      `<form action="/redirect/${code}?to=/form" method="post"><input name="a" value="1"><button>Send</button></form>`,
    );
    await app.goto(`${origin.origin}/`);
    await app.navigated(() => app.frame().getByRole("button", { name: "Send" }).click());
    const received = await receivedForm(app);
    expect(received.method).toBe(method);
    expect(received.fields).toHaveLength(method === "POST" ? 1 : 0);
    expect(origin.requests.filter(({ path }) => path.startsWith("/redirect/"))).toHaveLength(1);
  });

  test(`a fetch that meets ${code} ends as ${method}, redirected, at the final address`, async ({ app, origin }) => {
    origin.page("/", "<p>Asker</p>");
    await app.goto(`${origin.origin}/`);
    const answer = await (await app.content()).evaluate(async (status) => {
      const response = await fetch(`/redirect/${status}?to=/echo`, { method: "POST", body: "x=1" });
      const { method, body } = (await response.json()) as { method: string; body: string };
      return { method, body, redirected: response.redirected, path: new URL(response.url).pathname };
    }, code);
    expect(answer).toEqual({ method, body: method === "POST" ? "x=1" : "", redirected: true, path: "/echo" });
  });
}

test("a chain over two sites ends at the last one, which the address shows", async ({ app, origin, otherOrigin }) => {
  otherOrigin.page("/end", "<p>Arrived</p>", "The end");
  const hop = (to: string): string => encodeURIComponent(to);
  const last = `${otherOrigin.origin}/redirect/308?to=/end`;
  await app.goto(`${origin.origin}/redirect/301?to=${hop(`/redirect/302?to=${hop(last)}`)}`);
  await expect(app.frame().getByText("Arrived")).toBeVisible();
  await expect(app.address).toHaveValue(new RegExp(`${otherOrigin.port}/end`));
  expect(await (await app.content()).evaluate(() => document.title)).toBe("The end");
});

test("relative links after a redirect start from the final address", async ({ app, origin }) => {
  origin.page("/deep/page", '<a href="next">Next</a>');
  origin.page("/deep/next", "<p>Next page</p>");
  await app.goto(`${origin.origin}/redirect/302?to=/deep/page`);
  await app.navigated(() => app.frame().getByRole("link", { name: "Next" }).click());
  await expect(app.frame().getByText("Next page")).toBeVisible();
});

test("redirect: manual and error work as they do directly", async ({ app, origin }) => {
  origin.page("/", "<p>Asker</p>");
  await app.goto(`${origin.origin}/`);
  const result = await (await app.content()).evaluate(async () => {
    const manual = await fetch("/redirect/302", { redirect: "manual" });
    const error = await fetch("/redirect/302", { redirect: "error" }).then(
      () => "answered",
      (reason: Error) => reason.name,
    );
    return { type: manual.type, status: manual.status, error };
  });
  expect(result).toEqual({ type: "opaqueredirect", status: 0, error: "TypeError" });
});

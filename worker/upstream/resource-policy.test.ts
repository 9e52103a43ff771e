import { expect, it } from "vitest";
import { ErrorCode } from "../../shared/errors.ts";
import { checkResourcePolicy } from "./opaque.ts";

it.each([
  ["same-origin", "https://bank.x.example", "https://bank.x.example/a", true],
  ["same-origin", "https://evil.x.example", "https://bank.x.example/a", false],
  ["same-origin", "http://bank.x.example", "https://bank.x.example/a", false],
  ["same-site", "https://evil.x.example", "https://bank.x.example/a", true],
  ["same-site", "https://y.example", "https://bank.x.example/a", false],
  ["same-site", "http://evil.x.example", "https://bank.x.example/a", false],
  ["same-site", "https://evil.x.example", "http://bank.x.example/a", true],
  ["same-site", "https://a.github.io", "https://b.github.io/a", false],
  ["same-site", "null", "https://bank.x.example/a", false],
  ["cross-origin", "https://y.example", "https://bank.x.example/a", true],
  ["nonsense", "https://y.example", "https://bank.x.example/a", true],
])("%s: %s may embed %s: %s", (policy, origin, url, isAllowed) => {
  const check = () =>
    checkResourcePolicy(new Headers({ "cross-origin-resource-policy": policy }), new URL(url), origin);
  if (isAllowed) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: ErrorCode.CORS_DENIED }));
});

import { TestPhone } from "../../worker/testing/test-phone.ts";

/** A phone that says nothing while the other checks run. */
export interface RestingPhone {
  readonly phone: TestPhone;
  /** As performance.now(). */
  readonly since: number;
}

/** @returns a phone whose session is up, and has been used once. */
export async function restingPhone(edgeUrl: string, token: string, page: string): Promise<RestingPhone> {
  const phone = new TestPhone(edgeUrl, token);
  await phone.connect();
  await phone.fetch(page);
  return { phone, since: performance.now() };
}

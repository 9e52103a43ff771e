/** What the app asks its edge about paired devices (PROTOCOL.md section 1.5). */
import type { DeviceList, GuestLimits, PairingCode } from "../../../shared/devices.ts";
import { DEVICES_PATH } from "../../../shared/subprotocol.ts";

/** `why` is a sentence for a person. */
export type Asked<Answer> = { readonly answer: Answer } | { readonly why: string };

export class DeviceRequests {
  #token: string;

  /** @param token of this device. */
  constructor(token: string) {
    this.#token = token;
  }

  list(): Promise<Asked<DeviceList>> {
    return this.#ask("GET", "");
  }

  rename(id: string, name: string): Promise<Asked<null>> {
    return this.#ask("PATCH", `/${id}`, { name });
  }

  unpair(id: string, withCookies: boolean): Promise<Asked<null>> {
    return this.#ask("DELETE", `/${id}${withCookies ? "?cookies" : ""}`);
  }

  /** @param guest null for a device that stays. */
  createCode(guest: GuestLimits | null): Promise<Asked<PairingCode>> {
    return this.#ask("POST", "/codes", guest === null ? {} : { guest });
  }

  changeKey(unpairsOthers: boolean): Promise<Asked<{ readonly accessKey: string }>> {
    return this.#ask("POST", "/key", { unpairsOthers });
  }

  async #ask<Answer>(method: string, path: string, body?: object): Promise<Asked<Answer>> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await fetch(DEVICES_PATH + path, init).catch(() => null);
    if (response === null) return { why: "Your edge cannot be reached now." };
    const answer: unknown = await response.json().catch(() => null);
    return response.ok ? { answer: answer as Answer } : { why: refusal(response.status) };
  }
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: "This device is not paired any more.",
  403: "This device is a guest, and guests manage no devices.",
  404: "Your edge does not know this: it may be older than the app, or the device is gone.",
  503: "Your edge cannot read what it keeps; its log says why.",
};

function refusal(status: number): string {
  return REFUSALS[status] ?? `Your edge could not do that (${status}).`;
}

/**
 * Responses to which the edge was redirected. The browser must see a redirect to know the final URL (`response.url`,
 * `redirected`, the base of imports and of `url()`), so it is sent there and comes back for the response.
 */
import { HELD_RESPONSE_TIME } from "../../messages/port-messages.ts";
import type { SlotExchange } from "../slot-exchange.ts";
import type { TunnelResponse } from "../tunnel-port.ts";

interface RedirectedAnswer {
  readonly response: TunnelResponse;
  readonly finish: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

const TOKEN = /#(ropeway-[\w-]+)$/;

export class RedirectedAnswers {
  readonly #answers = new Map<string, RedirectedAnswer>();

  /**
   * Takes over the exchange. 303 whatever the origin said: a body has been sent, the browser need not repeat it.
   *
   * @param url where the browser is to come back: the final URL as it reads on the slot.
   */
  redirect(exchange: SlotExchange, response: TunnelResponse, url: string): Response {
    // Fragments tell the same URL's requests apart. `response.url` leaves them out, unlike the URLs of loaded scripts.
    const token = exchange.head.destination === "" ? `ropeway-${crypto.randomUUID()}` : null;
    const key = token ?? url;
    this.#giveUp(key);
    const timer = setTimeout(() => this.#giveUp(key), HELD_RESPONSE_TIME);
    this.#answers.set(key, { response, finish: exchange.finish, timer });
    return Response.redirect(token === null ? url : `${url}#${token}`, 303);
  }

  /** The response that this request comes back for, or null. */
  claim(request: Pick<Request, "url">): TunnelResponse | null {
    const key = TOKEN.exec(request.url)?.[1] ?? request.url.split("#", 1)[0] ?? "";
    const answer = this.#take(key);
    answer?.finish();
    return answer?.response ?? null;
  }

  #take(key: string): RedirectedAnswer | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) return undefined;
    this.#answers.delete(key);
    clearTimeout(answer.timer);
    return answer;
  }

  #giveUp(key: string): void {
    const answer = this.#take(key);
    answer?.response.cancel();
    answer?.finish();
  }
}

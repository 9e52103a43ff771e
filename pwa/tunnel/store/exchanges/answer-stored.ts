import type { RopewayError } from "../../../../shared/errors.ts";
import type { ClientExchange, ResponseConsumer } from "../../../../shared/http/exchange.ts";
import type { HeaderList, RequestHead, ResponseHead, ScriptCookie } from "../../../../shared/http/heads.ts";
import { answerRange } from "../../../../shared/http-cache/cache-rules.ts";
import type { BodyReader } from "../database/body-reader.ts";
import { type ExchangeEntry, mayShow } from "./stored-exchange.ts";

export interface StoredAnswer {
  readonly request: RequestHead;
  readonly entry: ExchangeEntry;
  readonly headers: HeaderList;
  readonly scriptCookies: readonly ScriptCookie[];
}

/**
 * Gives a consumer what is stored, or the part of it that is asked for, as fast as the consumer takes it.
 *
 * @param body is closed when that is over.
 * @param broken says what it fails with where a part of the body is gone.
 */
export function answerStored(
  { request, entry, headers, scriptCookies }: StoredAnswer,
  body: BodyReader,
  consumer: ResponseConsumer,
  broken: () => RopewayError,
): ClientExchange {
  let isCancelled = false;
  const showsRange = mayShow("content-range", request, headers);
  const ranged = answerRange(request, { status: entry.meta.status, headers }, entry.body.size);
  const head = (status: number, fields: HeaderList): ResponseHead => ({
    status,
    headers: showsRange ? fields : fields.filter(([name]) => name !== "content-range"),
    url: entry.url,
    redirected: false,
    coding: "identity",
    scriptCookies,
  });
  const deliver = async (first: number, end: number): Promise<void> => {
    let at = 0;
    for (let block = await body.next(); block !== null && at < end && !isCancelled; block = await body.next()) {
      const part = block.subarray(Math.max(0, first - at), Math.max(0, end - at));
      at += block.length;
      // Whole buffers, since the consumer may transfer them.
      if (part.length > 0) await consumer.onBody(part.length === block.length ? block : part.slice());
    }
    if (!isCancelled) consumer.onEnd();
  };
  const run = async (): Promise<void> => {
    switch (ranged.kind) {
      case "whole":
        consumer.onHead(head(entry.meta.status, headers));
        return deliver(0, entry.body.size);
      case "part":
        consumer.onHead(head(206, ranged.headers));
        return deliver(ranged.first, ranged.last + 1);
      case "unsatisfiable":
        consumer.onHead(head(416, ranged.headers));
        return consumer.onEnd();
    }
  };
  void run()
    .catch(() => {
      const error = broken();
      if (!isCancelled) consumer.onError(error);
    })
    .finally(() => body.close());
  return {
    cancel() {
      isCancelled = true;
      body.close();
    },
  };
}

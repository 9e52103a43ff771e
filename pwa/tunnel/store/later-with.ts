import type { ClientExchange } from "../../../shared/http/exchange.ts";

/** What cannot be told at once. The promise does not reject. */
export function laterWith<Value>(promise: Promise<Value>, start: (value: Value) => ClientExchange): ClientExchange {
  let exchange: ClientExchange | null = null;
  let isCancelled = false;
  void promise.then((value) => {
    if (!isCancelled) exchange = start(value);
  });
  return {
    cancel() {
      isCancelled = true;
      exchange?.cancel();
    },
  };
}

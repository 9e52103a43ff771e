/**
 * Bodies come as their origins coded them, since some go on so: fetch would undo `gzip` and `br`. The option is workerd's
 * (https://github.com/cloudflare/workerd/pull/3669).
 */
export const AS_CODED = { encodeResponseBody: "manual" } as RequestInit;

/**
 * Fetches on Cloudflare past its cache, which is shared and knows requests by their URL alone: what one site of one phone
 * got with its cookies, another would get without. That cache holds scripts, pictures and documents of origins for
 * hours, also where they did not say that it may. A negative time keeps everything out, and unlike `cache: "no-store"`
 * adds no field to the request. Other runtimes have no such cache, and pass over the option.
 */
export function fetchUncached(request: Request): Promise<Response> {
  return fetch(request, { ...AS_CODED, cf: { cacheTtlByStatus: { "100-599": -1 } } } as RequestInit);
}

/**
 * Why a document is missing; carried as JSON in `data-notice` of the script's element. URLs are real ones, `from` is the
 * one that redirected, or "".
 */
export type Notice =
  | {
      readonly kind: "failed";
      readonly url: string;
      /** Method of the request that failed. */
      readonly method: string;
      readonly code: number;
      readonly message: string;
    }
  | { readonly kind: "moved"; readonly url: string; readonly from: string };

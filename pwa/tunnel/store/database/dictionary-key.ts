import { toBase64Url } from "../../../../shared/base-encodings.ts";
import { DICTIONARY_KEY_BYTES } from "../../../../shared/http/phone-fields.ts";
import { beginWrite, type StoreDatabase } from "./store-database.ts";

/**
 * The key with which the edge seals bodies of this phone, in base64url. It is as old as what is stored here, and the same in
 * all windows.
 *
 * @throws DOMException where storage is closed.
 */
export async function dictionaryKey(open: () => Promise<StoreDatabase>): Promise<string> {
  const database = await open();
  try {
    const keys = beginWrite(database, "totals").objectStore("totals");
    const known = await keys.get("dictionary-key");
    if (known instanceof Uint8Array) return toBase64Url(known);
    const fresh = crypto.getRandomValues(new Uint8Array(DICTIONARY_KEY_BYTES));
    await keys.put(fresh, "dictionary-key");
    return toBase64Url(fresh);
  } finally {
    database.close();
  }
}

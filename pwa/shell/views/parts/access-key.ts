/** The access key in what the person pasted: the key itself, or a whole pairing link `https://host/#key=…`. */
export function accessKeyFrom(pasted: string): string {
  const text = pasted.trim();
  const hash = text.indexOf("#");
  const inLink = hash < 0 ? null : new URLSearchParams(text.slice(hash + 1)).get("key");
  return (inLink ?? text).replace(/\s+/g, "");
}

/** Modules that the build makes up (scripts/build/virtual-modules.ts): the text of another built file. */
declare module "ropeway:*-script" {
  const text: string;
  export default text;
}
declare module "ropeway:*-page" {
  const text: string;
  export default text;
}
/** In gzip. */
declare module "ropeway:zstd-decoder-wasm" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
declare module "ropeway:brotli-decoder-wasm" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}

/** The platform compiles what is imported so before the worker runs. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

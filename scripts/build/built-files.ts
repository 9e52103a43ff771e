/** Contents of built files by their path below the directory that they are for. */
export type BuiltFiles = Map<string, Uint8Array>;

declare module 'tar-fs' {
  /** Writes the entries of a tar stream into a folder. */
  export function extract(folder: string): NodeJS.WritableStream;
}

/**
 * The script of a worker. The build of the package replaces this file with the bundled text of ../worker.ts,
 * so that the script needs no URL of its own, and bundlers need no configuration. It is null in the sources,
 * where engines run on the calling thread.
 */
export const workerSource: string | null = null;

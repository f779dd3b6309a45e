/**
 * The script of a worker. The build of the package replaces this file by the bundled text of worker.ts, so
 * that it needs no address of its own and bundlers no configuration; null in the sources, where engines run
 * on the calling thread.
 */
export const workerSource: string | null = null;

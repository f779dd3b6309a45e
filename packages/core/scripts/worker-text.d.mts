/** The script of the CPU engine's workers in one text, from its source or compiled entry file. */
export function workerText(entry: string): Promise<string>;

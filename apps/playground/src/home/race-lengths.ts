/** How many queries and keys attention is computed for on the first page, until the scores take 128 MiB. */
export const raceLengths = [256, 512, 1024, 1536, 2048, 3072, 4096] as const;

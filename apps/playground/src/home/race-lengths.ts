/** The numbers of queries and keys on the first page, up to the number whose scores take 128 MiB. */
export const raceLengths = [256, 512, 1024, 1536, 2048, 3072, 4096] as const;

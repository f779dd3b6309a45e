import { race } from './attention-race.ts';

/** Lengths that grow until the scores take 128 MiB. */
const lengths = [256, 512, 1024, 1536, 2048, 3072, 4096];

addEventListener('message', () => {
  for (const n of lengths) postMessage(race(n));
  postMessage(null);
});

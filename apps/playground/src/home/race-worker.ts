import { race } from './attention-race.ts';
import { raceLengths } from './race-lengths.ts';

addEventListener('message', () => {
  for (const n of raceLengths) postMessage(race(n));
  postMessage(null);
});

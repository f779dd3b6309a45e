import { type AttentionCall, normal } from '../testing/attention-call.ts';

/** What the page and the test compute alike: half precision, grouped heads, more than one tile, a drawn mask. */
export const call: AttentionCall = {
  q: normal([1, 4, 50, 16], 1, 'f16'),
  k: normal([1, 2, 50, 16], 2, 'f16'),
  v: normal([1, 2, 50, 16], 3, 'f16'),
  dO: normal([1, 4, 50, 16], 4, 'f16'),
  options: { causal: true, dropout: { p: 0.2, seed: 2n ** 40n } },
};

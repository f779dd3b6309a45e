import { anyBroadcast, broadcastTensor } from './broadcast.ts';
import { option, type RandomOption } from './option.ts';

/** A mask drawn by each scheme, or a given mask. */
export const dropout: RandomOption = option({
  name: 'dropout',
  kind: 'structure',
  values: [null, 'torch-efficient', 'flash-attention-2', 'onednn', 'mask'],
  add(draft, scheme) {
    if (!scheme) return;
    const { random, options } = draft;
    const p = random.pick([0.1, 0.3, 0.5]);
    if (scheme === 'mask') {
      const mask = broadcastTensor(draft, 'bool', anyBroadcast(draft), () => Number(random.chance(1 - p)));
      options.dropout = random.chance(0.3) ? { mask, scale: 1.5 } : { mask, p };
      return;
    }
    const seed = BigInt(random.integer(0, 2 ** 32 - 1)) << BigInt(random.integer(0, 32));
    const offset = random.pick([0, 7, 2n ** 32n - 3n]);
    options.dropout = { p, seed, offset, scheme };
  },
});

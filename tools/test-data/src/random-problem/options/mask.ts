import { option, type RandomOption } from '../option.ts';
import { anyBroadcast, broadcastTensor } from './broadcast.ts';

/** A boolean mask that hides some keys, and whole rows now and then. */
export const mask: RandomOption = option({
  name: 'mask',
  kind: 'structure',
  values: [false, true],
  add(draft, value) {
    if (!value) return;
    const { random } = draft;
    const visible = random.pick([0.1, 0.7, 0.95]);
    draft.options.mask = broadcastTensor(
      draft,
      random.pick(['bool', 'u8'] as const),
      anyBroadcast(draft),
      () => Number(random.chance(visible)),
    );
  },
});

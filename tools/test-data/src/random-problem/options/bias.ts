import { option, type RandomOption } from '../option.ts';
import type { DataType } from '../storage.ts';
import { type Broadcast, broadcastTensor } from './broadcast.ts';

/** An additive bias; kernels for its gradient depend on the dimensions that it has. */
export const bias: RandomOption = option<readonly [DataType, Broadcast] | null>({
  name: 'bias',
  kind: 'structure',
  values: [null, ['f32', 'bhij'], ['f16', 'h'], ['bf16', 'j'], ['f32', ''], ['f16', 'bi'], ['bf16', 'hij0']],
  add(draft, value) {
    if (!value) return;
    const { random } = draft;
    const [dtype, broadcast] = value;
    const hides = broadcast.includes('j') && random.chance(0.3);
    draft.options.bias = broadcastTensor(draft, dtype, broadcast, () =>
      hides && random.chance(0.2) ? -Infinity : random.normal(),
    );
  },
});

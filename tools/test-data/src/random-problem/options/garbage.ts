import { option, type RandomOption } from '../option.ts';

/** What lies where nobody should look: between rows, behind sequences, behind packed tokens. */
export const garbage: RandomOption = option({
  name: 'garbage',
  kind: 'number',
  values: ['zeros', 'NaN', 'infinity'],
  size(draft, value) {
    draft.garbage = value === 'NaN' ? NaN : value === 'infinity' ? -Infinity : 0;
  },
});

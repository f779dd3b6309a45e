import type { Text } from '../../text.ts';

export const formulas: Text['formulas'] = {
  given: 'gegeben',
  wanted: 'gesucht',
  'never stored': 'nie gespeichert',
  'for all': 'für alle',
  inner: 'inneres',
  outer: 'äußeres',
  new: 'neu',
  pairs: 'Paare',
  'head size': 'Kopfgröße',
};

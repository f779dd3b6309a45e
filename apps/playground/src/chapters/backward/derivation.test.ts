import { expect, it } from 'vitest';
import { formulas } from '../../text/en/page/formulas.ts';
import { derivation } from './derivation.ts';

it('has only words in its formulas that the catalogue has', () => {
  const words = derivation.flatMap(({ tex, indices = [] }) =>
    [tex, ...indices].flatMap(line => [...line.matchAll(/\\text\{([^}]*)\}/g)].map(([, word]) => word)),
  );
  expect(words).toContain('given');
  for (const word of words) expect(Object.keys(formulas)).toContain(word);
});

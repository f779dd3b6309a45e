import { operations } from '@tilewise/graph';
import { expect, test } from 'vitest';
import { operationSummary } from './operation-summaries.ts';

test('every operation is described', () => {
  expect(operations.filter(({ kind }) => operationSummary(kind) === '')).toEqual([]);
  expect(operationSummary('Exp')).toBe('eˣ.');
});

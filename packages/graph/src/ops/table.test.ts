import { expect, test } from 'vitest';
import { operationsPage } from '../../testing/documentation/operations-page.ts';
import { operations } from './table.ts';

test('the page of operations is up to date', async () => {
  await expect(operationsPage()).toMatchFileSnapshot('../../OPERATIONS.md');
});

test('no two operations have one name', () => {
  expect(new Set(operations.map(operation => operation.kind)).size).toBe(operations.length);
});

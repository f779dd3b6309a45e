import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedDir } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { ruleOf } from './rules.ts';

const kind = (message: string): string => ruleOf(`GRAPH_NOT_SUPPORTED: ${message}`).kind;

test.each([
  [
    'For group-query attention, number of heads for key and query must be a factor of number of heads for query',
    'ill-formed',
  ],
  ['Bias mask data type cannot be boolean', 'ill-formed'],
  ['hidden_dim shoud be equal to 128 and hidden_dim should be multiple of 16', 'vendor-only'],
  [
    'Bottom right causal mask is only supported with s_q multiple of 64, and s_kv multiple of 64',
    'vendor-only',
  ],
  ['fp8 hidden_dim (multiple of 16, <=128 or 192/128)', 'vendor-only'],
])('%s: %s', (message, expected) => {
  expect(kind(message)).toBe(expected);
});

const file = join(sharedDir() ?? '', 'conformance', 'cudnn', 'validation-rules.json');

test.skipIf(!existsSync(file))(
  'every validation rule of cuDNN has a row (needs the full conformance data)',
  () => {
    const messages: { readonly msg: string }[] = JSON.parse(readFileSync(file, 'utf8'));
    const missing = messages.filter(({ msg }) => {
      try {
        return !kind(msg);
      } catch {
        return true;
      }
    });
    expect(missing.map(({ msg }) => msg)).toEqual([]);
  },
);

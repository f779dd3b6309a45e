import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type BrokenCall, brokenCalls, goodCall } from '../../testing/broken-calls/index.ts';
import { TilewiseError } from '../errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { normalise, normaliseBackward, normaliseCall } from './call/normalise.ts';
import { allReaders } from './call/option-readers.ts';
import type { SdpaBackwardOptions } from './options/options.ts';
import { backwardRules } from './rules/backward-rules.ts';
import { forwardRules } from './rules/forward-rules.ts';
import { fp8ForwardRules } from './rules/fp8-rules.ts';

const run = ({ inputs, options, backward }: BrokenCall): unknown => {
  const call = { ...goodCall, ...inputs };
  const asked = options as SdpaBackwardOptions<Tensor>;
  try {
    if (backward) normaliseBackward(call, asked);
    else normalise(call, asked);
  } catch (error) {
    return error;
  }
  return undefined;
};

/** `file:line` of each place that threw in some case, and the rules that some case broke. */
const thrown = new Set<string>();
const brokenRules = new Set<unknown>();
const noteThrown = ({ stack = '' }: Error): void => {
  for (const [, file, line] of stack.matchAll(/attention\/([\w/-]+\.ts):(\d+)/g))
    thrown.add(`${file}:${line}`);
};
const folder = fileURLToPath(new URL('.', import.meta.url));

beforeAll(() => {
  for (const rule of [...forwardRules, ...fp8ForwardRules, ...backwardRules]) {
    const { broken } = rule as { broken: (problem: unknown) => string | null };
    vi.spyOn(rule as { broken: typeof broken }, 'broken').mockImplementation(problem => {
      const wrong = broken(problem);
      if (wrong !== null) brokenRules.add(rule);
      return wrong;
    });
  }
});
afterAll(() => {
  vi.restoreAllMocks();
});

test('the call that the cases start from is valid', () => {
  expect(run({ argument: '', code: 'UNSUPPORTED', says: /^$/ })).toBeUndefined();
  expect(run({ argument: '', code: 'UNSUPPORTED', says: /^$/, backward: true })).toBeUndefined();
});

describe('a broken rule is an error that names the argument, its value and the rule', () => {
  test.each(brokenCalls)('$argument $says', one => {
    const error = run(one);
    if (!(error instanceof TilewiseError)) expect.fail(`it threw ${error}`);
    expect([error.code, error.argument]).toEqual([one.code, one.argument]);
    expect(error.message.startsWith(one.argument), error.message).toBe(true);
    expect(error.message).toMatch(one.says);
    noteThrown(error);
  });
});

test.each(['fp8', 'mxfp8'])('%s is refused by a call that does not read it', name => {
  const options = { [name]: {} };
  try {
    normaliseCall(goodCall, options, { ...allReaders, fp8: null });
    expect.fail('it was not');
  } catch (error) {
    expect(String(error)).toBe(`InvalidArgumentError: ${name} was given to a call that does not read it`);
    noteThrown(error as Error);
  }
});

describe('every rule has a case', () => {
  test('of the rules of problems', () => {
    const named = (rules: readonly { readonly argument: string; readonly kind: string }[]) =>
      rules.filter(rule => !brokenRules.has(rule)).map(({ argument, kind }) => `${argument} (${kind})`);
    expect(named([...forwardRules, ...fp8ForwardRules])).toEqual([]);
    // A call gives a gradient the shape of its operand, and one option gives all three their dtype, of which
    // dq's is checked first. A problem made by hand may break the rest.
    expect(named(backwardRules)).toEqual([
      ...['dq (shape)', 'gradDType (dtype)', 'dk (shape)', 'gradDType (dtype)', 'dv (shape)'],
    ]);
  });

  test('of the checks in code', () => {
    // These have their own tests: the merge of partial results, operands that an engine lacks, tensors of
    // plans, stored problems, standard slopes.
    const elsewhere = [
      ...[
        'merge-partials.ts',
        'host/required.ts',
        'operands/check-layout.ts',
        'rules/rule.ts',
        'rules/problem-schema.ts',
        'rules/stored-rules.ts',
      ],
      'options/alibi.ts',
    ];
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      file => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    );
    const places = files
      .filter(file => !elsewhere.includes(file))
      .flatMap(file =>
        readFileSync(`${folder}/${file}`, 'utf8')
          .split('\n')
          .flatMap((line, n) => (line.includes('throw new ') ? [`${file}:${n + 1}`] : [])),
      );
    expect(places.length).toBeGreaterThan(30);
    expect(places.filter(place => !thrown.has(place))).toEqual([]);
  });
});

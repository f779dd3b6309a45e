import { InvalidArgumentError, type Tensor, UnsupportedError } from '@tilewise/core';
import type { Outcome } from '../../../cases/case.ts';
import { type TensorError, worstOf } from '../../attention/worst-error.ts';
import { type Concrete, concreteCalls } from '../concrete/concrete.ts';
import type { CudnnCase } from '../format/case-format.ts';
import type { PassResults, Runner } from '../runners/runner.ts';
import { type Call, makeCall, withScales } from '../tensors/call.ts';
import { compareResult } from './compare.ts';
import { expectedResults } from './expected.ts';
import { runRefusal } from './refusal.ts';
import { ruleOf } from './rules.ts';
import { toleranceOf } from './tolerance.ts';

/** Runs a case: each of its calls, or the refusal of an ill-formed case. */
export async function runCase(runner: Runner, c: CudnnCase): Promise<Outcome> {
  const rule = c.vendorRule === null ? null : ruleOf(c.vendorRule);
  const calls = concreteCalls(c);
  if (rule?.kind === 'ill-formed') return runRefusal(runner, calls[0], rule, c.vendorRule ?? '');
  const outcomes: Outcome[] = [];
  for (const concrete of calls) outcomes.push(await runCall(runner, concrete));
  const outcome = joined(outcomes);
  if (!rule || outcome.status !== 'pass') return outcome;
  return { ...outcome, reason: `${outcome.reason}; cuDNN refuses it, but ${rule.reason}` };
}

async function runCall(runner: Runner, concrete: Concrete): Promise<Outcome> {
  const label = concrete.label === '' ? '' : `${concrete.label}: `;
  const findings: Findings = { errors: [], damage: [] };
  const missing: string[] = [];
  try {
    await runPasses(runner, makeCall(concrete), findings);
  } catch (error) {
    missing.push(...lacking(error, concrete));
  }
  return outcomeOf(label, findings, missing);
}

/**
 * Why the library cannot express or run a call: the engine cannot run it, or the call has block scales of
 * packed, ragged or paged tensors, which cuDNN's documents and tests do not define either.
 * @throws any other error.
 */
function lacking(error: unknown, { layouts: { q, k, pageSize } }: Concrete): readonly string[] {
  if (error instanceof UnsupportedError) return error.reasons;
  const isInPieces = q.packed || k.packed || pageSize !== null;
  if (isInPieces && error instanceof InvalidArgumentError && error.argument === 'mxfp8')
    return [error.message];
  throw error;
}

interface Findings {
  readonly errors: TensorError[];
  readonly damage: string[];
}

async function runPasses(runner: Runner, made: Call, { errors, damage }: Findings): Promise<void> {
  const { concrete } = made;
  const expected = expectedResults(made);
  const call = expected.fp8 ? withScales(made, expected.fp8) : made;
  const forward = await runner.forward(call);
  const check = (results: PassResults, names: readonly string[]): void => {
    damage.push(...results.damage);
    for (const name of names) {
      const actual = results.tensors[name];
      errors.push(
        actual
          ? compareResult(concrete, name, actual, expected, toleranceOf(concrete, name))
          : { tensor: name, ratio: Infinity, text: 'was not returned' },
      );
    }
  };
  check(forward, Object.keys(expected.forward));
  if (!concrete.backward) return;
  const backward = await runner.backward(call, forward);
  check(backward, Object.keys(expected.backward));
  if (!concrete.flags.deterministic) return;
  const again = await runner.backward(call, forward);
  for (const name of call.gradients) {
    const [one, other] = [backward.tensors[name], again.tensors[name]];
    if (one && other && !sameBits(one, other)) damage.push(`two runs differ in ${name}`);
  }
}

function sameBits(a: Tensor, b: Tensor): boolean {
  const bytes = ({ data }: Tensor) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Buffer.compare(bytes(a), bytes(b)) === 0;
}

function outcomeOf(label: string, { errors, damage }: Findings, missing: readonly string[]): Outcome {
  const worst = errors.length > 0 ? worstOf(errors) : null;
  const error = worst && Number.isFinite(worst.ratio) ? worst.ratio : null;
  const text = worst ? `${label}${worst.tensor} ${worst.text}` : label;
  if (worst && !(worst.ratio <= 1)) return { status: 'fail', error, reason: text };
  if (damage.length > 0) return { status: 'fail', error, reason: `${label}${damage.join('; ')}` };
  if (missing.length > 0) return { status: 'unsupported', error, reason: `${label}${missing.join('; ')}` };
  return { status: 'pass', error, reason: text };
}

const severity = ['pass', 'unsupported', 'fail'] as const;

/**
 * The outcome of a case with several calls: the worst kind, and among calls of that kind the one with the
 * largest error.
 */
function joined(outcomes: readonly Outcome[]): Outcome {
  return outcomes.reduce((worst, outcome) => {
    const [a, b] = [severity.indexOf(worst.status), severity.indexOf(outcome.status)];
    return b > a || (b === a && (outcome.error ?? 0) > (worst.error ?? 0)) ? outcome : worst;
  });
}

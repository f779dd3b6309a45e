import { TilewiseError } from '@tilewise/core';
import type { Outcome } from '../../../cases/case.ts';
import type { Concrete } from '../concrete/concrete.ts';
import type { Runner } from '../runners/runner.ts';
import { type Call, type Inputs, makeCall } from '../tensors/call.ts';
import type { Rule } from './rules.ts';

/** Runs an ill-formed call: it passes if the engine refuses it with a typed error for a wrong argument. */
export async function runRefusal(
  runner: Runner,
  concrete: Concrete,
  rule: Rule,
  message: string,
): Promise<Outcome> {
  const call = makeCall(concrete);
  try {
    const broken: Call = {
      ...call,
      laidOut: (rule.breaks?.(call.laidOut, message) ?? call.laidOut) as Inputs,
    };
    const forward = await runner.forward(broken);
    if (concrete.backward) await runner.backward(broken, forward);
  } catch (error) {
    if (error instanceof TilewiseError && error.code.startsWith('INVALID_')) {
      return { status: 'pass', error: null, reason: `refused, as ${rule.reason}: ${error.message}` };
    }
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { status: 'fail', error: null, reason: `it must be refused as invalid, but: ${text}` };
  }
  return { status: 'fail', error: null, reason: `it was computed, but must be refused: ${rule.reason}` };
}

import { errorOf } from '@tilewise/test-data';
import {
  allowedError,
  describeProblem,
  onlyProblem,
  type RandomProblem,
  randomCall,
  randomProblems,
  rerunCommand,
  runSeed,
} from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { normalise, normaliseBackward } from '../../attention/call/normalise.ts';
import type { SdpaBackwardOptions } from '../../attention/options/options.ts';
import { modOf } from '../../expr/mods/mod.ts';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '../../reference/sdpa.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { createEngineKernels } from '../kernels/engine-kernels.ts';
import { supportedVariants } from '../kernels/host-kernels.ts';
import { backward } from './backward/backward.ts';
import { forward } from './forward/forward.ts';

/** Every tensor of a result, including the gradients of captures. */
function tensorsOf(results: object): Map<string, Tensor> {
  const named = Object.entries(results).flatMap(([name, value]): [string, Tensor][] => {
    if (value instanceof Tensor) return [[name, value]];
    return Object.entries((value ?? {}) as Record<string, Tensor>).map(([key, t]) => [`${name}.${key}`, t]);
  });
  return new Map(named);
}

function expectAgreement(got: object, exact: object, problem: RandomProblem): void {
  const actual = tensorsOf(got);
  const wanted = tensorsOf(exact);
  expect([...actual.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [name, want] of wanted) {
    const t = actual.get(name);
    expect([t?.shape, t?.dtype], name).toEqual([want.shape, want.dtype]);
    const values = want.toFloat64();
    const { max } = errorOf(t?.toFloat64() ?? [], values);
    expect(max, `${name}, largest error`).toBeLessThanOrEqual(
      allowedError(name, want.dtype, values, problem),
    );
  }
}

const allKernels = supportedVariants().map(createEngineKernels);

/** Checks forward and backward, on kernels and with a tile size that the problem's number decides. */
function check(problem: RandomProblem): void {
  const kernels = allKernels[problem.number % allKernels.length];
  const tiles = { rows: 1 + (problem.number % 9), columns: 8 * (1 + (problem.number % 4)) };
  const { q, k, v, dO, dLse, ...rest } = randomCall(
    problem,
    data => Tensor.wrap(data.data, data),
    modOf<Tensor>,
  );
  const options = rest.options as SdpaBackwardOptions<Tensor>;
  const call = normalise({ q, k, v }, options);
  const exact = exactSdpa(q, k, v, options);
  expectAgreement(forward(call.problem, call.operands, { kernels, tiles }), exact, problem);
  if (!problem.backward) return;
  const { o, lse } = exact;
  const inputs = { q, k, v, o, lse, dO, dLse };
  const back = normaliseBackward(inputs, options);
  const { gradients, dCaptures } = backward(back.problem, back.operands, { kernels, tiles });
  const got = { ...gradients, ...(dCaptures && { dCaptures }) };
  expectAgreement(got, exactSdpaBackward(inputs, options), problem);
}

const seed = runSeed();

test(`random problems of seed ${seed} agree with the reference, forward and backward, in tiles of any size`, {
  timeout: 300_000,
}, () => {
  const problems = randomProblems(seed, { atLeast: 250 });
  const only = onlyProblem();
  for (let n = only ?? 0; n < (only === undefined ? problems.count : only + 1); n++) {
    const problem = problems.problem(n);
    try {
      check(problem);
    } catch (cause) {
      const again = rerunCommand('packages/core/src/cpu/random-problems', seed, n);
      throw new Error(`${describeProblem(problem)}\n${(cause as Error).message}\nAgain: ${again}`, { cause });
    }
  }
});

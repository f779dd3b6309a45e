import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { WrongResult } from '../../suite/suite.ts';
import { attentionCase } from './attention-case.ts';
import { checkResults } from './check-results.ts';

const engine = cpuEngine({ threads: 1 });

test.each(['f32', 'f16', 'bf16'] as const)(
  'right results in %s pass, and a wrong one does not',
  async dtype => {
    const of = attentionCase([1, 2, 40, 16], dtype, true);
    const { q, k, v, dO, causal } = of;
    const { o, lse } = await engine.sdpa(q, k, v, { causal });
    const gradients = await engine.sdpaBackward({ q, k, v, o, lse, dO }, { causal });
    checkResults(of, { o, lse, ...gradients });
    expect(() => checkResults(of, { o, lse, ...gradients, dk: gradients.dv })).toThrow(WrongResult);
    expect(() => checkResults(of, { o: v, lse, ...gradients })).toThrow(WrongResult);
  },
);

import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { tinyCase } from '../../../../testing/tiny-case.ts';
import { parseCase } from '../format/case-format.ts';
import { hostRunner } from '../runners/host-runner.ts';
import type { PassResults, Runner } from '../runners/runner.ts';
import { runCase } from './run-case.ts';

const sound = hostRunner(cpuEngine());
const run = (changes = {}, runner: Runner = sound) => runCase(runner, parseCase(tinyCase(changes)));

/** A runner that changes its results before it returns them. */
function tampered(change: (tensors: Record<string, Tensor>, damage: string[]) => void): Runner {
  const changed = (results: PassResults): PassResults => {
    const tensors = { ...results.tensors };
    const damage = [...results.damage];
    change(tensors, damage);
    return { tensors, damage };
  };
  return {
    forward: async call => changed(await sound.forward(call)),
    backward: async (call, forward) => changed(await sound.backward(call, forward)),
  };
}

const nudged = (name: string, by: number, ...place: number[]): Runner =>
  tampered(tensors => {
    const tensor = tensors[name];
    if (!tensor) return;
    tensors[name] = Tensor.from(tensor.toFloat64(), tensor.shape, { dtype: tensor.dtype });
    tensors[name].set(tensor.get(...place) + by, ...place);
  });

describe('a right result passes', () => {
  test.each([
    ['strided', {}],
    [
      'packed',
      {
        layout: 'thd',
        strides: undefined,
        flags: { padding: true, ragged: true, seq_len_q: [9, 4], seq_len_kv: [12, 7] },
      },
    ],
    ['interleaved', { layout: 'bs3hd', strides: undefined, flags: {} }],
    [
      'heads interleaved',
      { layout: 'sbh3d', strides: undefined, h_k: 2, h_v: 2, flags: { alibi: true, right_bound: 0 } },
    ],
    [
      'paged',
      {
        op: 'sdpa_fwd',
        flags: {
          padding: true,
          paged: true,
          block_size: 4,
          seq_len_q: [9, 4],
          seq_len_kv: [12, 6],
          score_max: true,
        },
      },
    ],
    ['a bias and a sink', { flags: { bias: true, sink_token: true, score_max: true, score_sum_exp: true } }],
    [
      'paged by a packed table',
      {
        op: 'sdpa_fwd',
        flags: {
          ...{ padding: true, paged: true, block_size: 4, packed_page_table: true },
          ...{ seq_len_q: [9, 4], seq_len_kv: [12, 6] },
        },
      },
    ],
    ['dropout', { flags: { dropout: 0.1, rng_dump: true } }],
    [
      'dropout of packed queries with keys that are not packed',
      {
        ...{ op: 'sdpa_fwd', layout: 'q,o thd; k,v bshd', strides: undefined },
        flags: { ...{ padding: true, seq_len_q: [9, 4], seq_len_kv: [12, 7] }, dropout: 0.1, rng_dump: true },
      },
    ],
    [
      'a block mask',
      {
        op: 'sdpa_fwd',
        s_q: 140,
        s_kv: 300,
        layout: 'bhsd',
        strides: undefined,
        flags: { block_mask: true },
      },
    ],
    ['a score program', { flags: { score_mod: 'softcap', score_mod_bprop: 'softcap backward' } }],
    ['bf16 and f16', { dtype: 'fp16/bf16', data: 'q,k,v=randn-0.5; dO=0.1*randn; bias=randn' }],
  ])('%s', async (_, changes) => {
    const { status, reason, error } = await run(changes);
    expect({ status, reason }).toEqual({ status: 'pass', reason });
    expect(error).toBeLessThanOrEqual(1);
  });
});

describe('block scales of packed, ragged or paged tensors are unsupported, with the reason of the rule', () => {
  const lengths = { padding: true, seq_len_q: [9, 4], seq_len_kv: [12, 7] };
  test.each([
    ['paged', { flags: { ...lengths, paged: true, block_size: 4 } }],
    ['packed', { layout: 'thd', flags: { ...lengths, ragged: true } }],
  ])('%s', async (_, changes) => {
    const outcome = await run({
      ...{ op: 'sdpa_mxfp8_fwd', dtype: 'e4m3', out_dtype: 'bf16', layout: 'bhsd', strides: undefined },
      ...changes,
    });
    expect(outcome).toEqual({
      status: 'unsupported',
      error: null,
      reason: expect.stringMatching(/^mxfp8 cannot be combined with a packed, ragged or paged [qk]: blocks/),
    });
  });
});

describe('a wrong result fails', () => {
  test.each([
    ['o', nudged('o', 0.2, 1, 0, 2, 3), /^o is off by 2\.00e-1 at \[1,0,2\]/],
    ['lse', nudged('lse', 0.1, 0, 1, 8), /^lse is off by 1\.00e-1/],
    ['a gradient', nudged('dk', 0.3, 0, 0, 2, 1), /^dk is off by 3\.0/],
    ['NaN', nudged('dv', NaN, 0, 0, 0, 0), /^dv holds NaN at \[0,0,0\]/],
    [
      'a fully masked row that is not zero',
      nudged('o', 1e-6, 1, 0, 5, 0),
      /^o holds .* where nothing contributes/,
    ],
    [
      'the gradient of a key that no query sees',
      nudged('dk', 1e-6, 0, 0, 11, 0),
      /^dk holds .* where nothing contributes/,
    ],
    [
      'an lse that is not −∞',
      tampered(t => {
        t.lse?.set(0, 1, 0, 6);
      }),
      /^lse holds 0 .* where -Infinity is expected/,
    ],
    [
      'a result that is missing',
      tampered(t => {
        delete t.dq;
      }),
      /^dq was not returned/,
    ],
    [
      'a gap that was written',
      tampered((_, damage) => damage.push('2 elements that are not of o were written')),
      /^2 elements that are not of o were written/,
    ],
  ])('%s', async (_, runner, message) => {
    const { status, reason } = await run({}, runner);
    expect({ status, reason }).toEqual({ status: 'fail', reason: expect.stringMatching(message) });
  });

  test('two backward passes that differ in a bit, if the case requests determinism', async () => {
    let runs = 0;
    const runner = tampered(tensors => {
      if (tensors.dq && ++runs === 2)
        tensors.dq = Tensor.from(
          tensors.dq.toFloat64().map((x, i) => (i === 3 ? x + 2e-3 : x)),
          tensors.dq.shape,
          { dtype: 'f16' },
        );
    });
    expect(await run({}, runner)).toMatchObject({ status: 'fail', reason: 'two runs differ in dq' });
  });

  test('an input that was changed', async () => {
    const runner: Runner = {
      ...sound,
      forward: async call => {
        const { engine } = meddler(call.laidOut.k);
        return hostRunner(engine).forward(call);
      },
    };
    expect(await run({ op: 'sdpa_fwd' }, runner)).toMatchObject({
      status: 'fail',
      reason: 'k, an input, was changed',
    });
  });
});

/** An engine that writes to a tensor that it should only read. */
function meddler(victim: Tensor) {
  const engine = cpuEngine();
  const sdpa: typeof engine.sdpa = async (...args) => {
    const results = await engine.sdpa(...args);
    victim.data[0] = 0;
    return results;
  };
  return { engine: { ...engine, sdpa } };
}

describe('what cuDNN refuses', () => {
  const refusal = (code: string, message: string, flags: object, changes = {}) =>
    run({
      op: 'sdpa_fwd',
      layout: undefined,
      strides: undefined,
      flags,
      cudnn_expect: undefined,
      expect_error: { code, message },
      ...changes,
    });

  test('for a reason that applies only to cuDNN must be computed', async () => {
    const vendors = await refusal(
      'GRAPH_NOT_SUPPORTED',
      'hidden_dim should be multiple of 8',
      {},
      { d_qk: 9, d_v: 7 },
    );
    expect(vendors).toMatchObject({
      status: 'pass',
      reason: expect.stringMatching(/cuDNN refuses it, but head sizes/),
    });
    const wrong = await run(
      { cudnn_expect: 'GRAPH_NOT_SUPPORTED: s_q = s_kv = 1 is not supported.' },
      nudged('o', 1, 0, 0, 0, 0),
    );
    expect(wrong.status).toBe('fail');
  });

  test('because it contradicts itself must be refused', async () => {
    const message = 'Dropout probability cannot be 1 as corresponding scale wont be well formed.';
    expect(await refusal('ATTRIBUTE_NOT_SET', message, { dropout: 1 })).toMatchObject({
      status: 'pass',
      reason: expect.stringMatching(/^refused, as .*: dropout\.p must be a number in \[0, 1\), got 1/),
    });
    expect(await refusal('ATTRIBUTE_NOT_SET', message, { dropout: 0.5 })).toMatchObject({
      status: 'fail',
      reason: expect.stringMatching(/^it was computed, but must be refused/),
    });
  });

  test('for a reason without a rule fails', async () => {
    await expect(refusal('GRAPH_NOT_SUPPORTED', 'the moon is full', {})).rejects.toThrow(
      "no rule in the table of this suite matches 'the moon is full'",
    );
  });
});

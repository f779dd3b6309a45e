import { InvalidArgumentError, normaliseBackward } from '@tilewise/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { exactResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { read, slice } from '../../../testing/attention/plan-calls.ts';
import { storageBuffer } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { caught, expectError } from '../../../testing/expect-error.ts';
import { type BufferSlice, type GpuContext, type Plan, planSdpaBackward } from '../../index.ts';

// The kernels of dk and dv are separate, because k and v have different heads.
const [q, k, v, dO] = [2, 2, 1, 2].map((H, n) => normal([1, H, 8, 8], n));
const exact = exactResults({ q, k, v, dO });
const { o, lse, dq, dk, dv } = exact;

let ctx: GpuContext;
let plan: Plan;
let buffers: Record<string, BufferSlice>;
beforeAll(async () => {
  ctx = await sharedContext();
  plan = planSdpaBackward(ctx, normaliseBackward({ q, k, v, o, lse, dO }).problem);
  const tensors = Object.entries({ q, k, v, o, lse, dO, dq, dk, dv });
  buffers = Object.fromEntries(tensors.map(([name, t]) => [name, slice(ctx.device, t)]));
  buffers.workspace = { buffer: storageBuffer(ctx.device, plan.workspaceBytes) };
});

function encode(more: Record<string, BufferSlice>): Record<string, BufferSlice> {
  const all = { ...buffers, ...more };
  const encoder = ctx.device.createCommandEncoder();
  plan.encode(encoder, all);
  ctx.device.queue.submit([encoder.finish()]);
  return all;
}

describe('a plan refuses', () => {
  test('a result in the memory of an input that a later kernel reads', () => {
    const error = caught(() => encode({ dv: buffers.v }));
    expectError(
      error,
      InvalidArgumentError,
      'buffers.dv',
      /share bytes with buffers\.v, .*'attention dq' uses later/,
    );
  });

  test('two results of two kernels in the same memory', () => {
    expectError(
      caught(() => encode({ dq: buffers.dk })),
      InvalidArgumentError,
      'buffers.dk',
      /share bytes with buffers\.dq/,
    );
    expectError(
      caught(() => encode({ dv: buffers.dk })),
      InvalidArgumentError,
      'buffers.dk',
      /share bytes with buffers\.dv/,
    );
  });
});

describe('of two tensors in one buffer, a plan', () => {
  /** Slices of one buffer that start at these bytes. */
  const slicesAt = (...offsets: number[]): BufferSlice[] => {
    const buffer = storageBuffer(ctx.device, 2048);
    return offsets.map(offset => ({ buffer, offset }));
  };

  test('refuses two results that share some bytes', () => {
    // dk takes 512 bytes.
    const [dk, dv] = slicesAt(0, 256);
    expectError(
      caught(() => encode({ dk, dv })),
      InvalidArgumentError,
      'buffers.dk',
      /share bytes with buffers\.dv/,
    );
  });

  test('refuses a result that shares some bytes with an input that a later kernel reads', () => {
    // v takes 256 bytes.
    const [v, dv] = slicesAt(0, 128);
    expectError(
      caught(() => encode({ v, dv })),
      InvalidArgumentError,
      'buffers.dv',
      /share bytes with buffers\.v, .*'attention dq' uses later/,
    );
  });

  test('accepts two results one after the other', async () => {
    const [given, other] = slicesAt(0, 512);
    encode({ dk: given, dv: other });
    const got = { dk: await read(ctx.device, dk, given), dv: await read(ctx.device, dv, other) };
    expectAgreement(got, { dk, dv });
  });
});

test('a result may use the memory of an input that no later kernel reads', async () => {
  const all = encode({ dq: buffers.o });
  const got = {
    dq: await read(ctx.device, dq, all.dq),
    dk: await read(ctx.device, dk, all.dk),
    dv: await read(ctx.device, dv, all.dv),
  };
  expectAgreement(got, { dq, dk, dv });
  expect(all.dq).toBe(buffers.o);
});

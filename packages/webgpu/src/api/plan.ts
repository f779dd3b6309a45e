import {
  type AttentionProblem,
  dtypeTraits,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  listText,
  type OperandDesc,
  operandTable,
  type Support,
  type U64Words,
  UnsupportedError,
} from '@tilewise/core';
import { checkOptions, describeValue } from '@tilewise/philox/errors';
import type { AttentionPlan } from '../attention/plan/attention-plan.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { KernelPlan } from '../runtime/plan/kernel-plan.ts';
import type { KernelParts } from '../runtime/plan/plan-layout.ts';
import { support } from './support.ts';

/** Numbers that may change from one encode to the next without a new plan. */
export interface EncodeOptions {
  /** 64-bit words of the dropout seed and offset. Default: those of the problem. */
  readonly seed?: U64Words | undefined;
  readonly offset?: U64Words | undefined;
  /** Default: that of the problem. */
  readonly scale?: number | undefined;
}

/** Attention on one device, ready to be recorded any number of times. */
export type Plan = KernelPlan<EncodeOptions>;

/** Choices of a plan that the problem does not hold. */
export interface PlanOptions {
  /**
   * Tensors whose slices may start at any element. Others must start at a multiple of four elements (see
   * `tensors`), so that they can be moved in vectors.
   */
  readonly unaligned?: Iterable<string> | undefined;
}

/**
 * Names of tensors that are not operands of every problem: what mods load, its gradients, and the tensors of
 * MXFP8.
 */
const furtherTensors = /^(d?[cC]aptures|mxfp8)\../;

/**
 * The tensors that may start at any element.
 * @throws InvalidArgumentError for what is no list of names of tensors.
 */
export function unalignedNames({ unaligned = [] }: PlanOptions): ReadonlySet<string> {
  if (typeof unaligned !== 'object' || !unaligned || !(Symbol.iterator in unaligned)) {
    throw new InvalidArgumentError(
      'options.unaligned',
      `must be an array of names of tensors, got ${describeValue(unaligned)}`,
    );
  }
  const names = new Set(unaligned);
  for (const name of names) {
    if (Object.hasOwn(operandTable, name) || (typeof name === 'string' && furtherTensors.test(name)))
      continue;
    throw new InvalidArgumentError(
      'options.unaligned',
      `must hold names of tensors of a plan such as q, k and o, got ${describeValue(name)}`,
    );
  }
  return names;
}

/** @throws UnsupportedError with the reasons. */
export function demandSupport({ supported, reasons }: Support): void {
  if (!supported) throw new UnsupportedError('webgpu', reasons);
}

/**
 * A result has the shape of what it is (packed and ragged ones any number of tokens), and a place for each
 * element.
 */
export function checkResultLayout(argument: string, desc: OperandDesc, dense: OperandDesc['shape']): void {
  const [, H, , D] = dense;
  const shape = desc.starts === 'strided' ? dense : ([1, H, desc.shape[2], D] as const);
  if (dtypeTraits[desc.dtype]?.kind !== 'float') {
    throw new InvalidDTypeError(argument, `must be a float dtype, got ${desc.dtype}`);
  }
  if (desc.shape.some((n, d) => n !== shape[d])) {
    throw new InvalidShapeError(argument, `must have shape [${shape}], got [${desc.shape}]`);
  }
  if (overlapsItself(desc)) {
    throw new InvalidArgumentError(
      argument,
      `must have a place for each element, got strides [${desc.strides}] for shape [${shape}]`,
    );
  }
}

/**
 * Whether two elements of a layout may lie in one place: some dimension steps by less than the dimensions
 * inside it span.
 */
function overlapsItself({ shape, strides }: OperandDesc): boolean {
  if (shape.includes(0)) return false;
  const dims = shape
    .map((extent, d) => ({ extent, stride: strides[d] ?? 0 }))
    .filter(({ extent }) => extent > 1);
  let span = 1;
  for (const { extent, stride } of dims.sort((a, b) => a.stride - b.stride)) {
    if (stride < span) return true;
    span += (extent - 1) * stride;
  }
  return false;
}

/** The plan of some kernels of a problem, with its scale and its dropout. */
export function makePlan(
  ctx: GpuContext,
  { layouts, ...parts }: KernelParts & Partial<Pick<AttentionPlan, 'layouts'>>,
  { dropout, scale: own }: Pick<AttentionProblem, 'dropout' | 'scale'>,
): Plan {
  demandSupport(support(ctx.planReasons(parts)));
  const drawn = dropout?.kind === 'philox' ? dropout : { seed: [0, 0] as const, offset: [0, 0] as const };
  return ctx.plan<EncodeOptions>({
    ...parts,
    ...(layouts && { expected: layouts }),
    inputs(options = {}) {
      checkOptions('options', options, ['seed', 'offset', 'scale']);
      const { seed = drawn.seed, offset = drawn.offset, scale = own } = options;
      checkWords('options.seed', seed);
      checkWords('options.offset', offset);
      if (typeof scale !== 'number' || !Number.isFinite(Math.fround(scale)))
        throw new InvalidArgumentError(
          'options.scale',
          `must be a finite number, got ${describeValue(scale)}`,
        );
      return { scale, seedLow: seed[0], seedHigh: seed[1], offsetLow: offset[0], offsetHigh: offset[1] };
    },
  });
}

function checkWords(argument: string, words: U64Words): void {
  const isWord = (n: unknown): boolean => Number.isInteger(n) && Number(n) >= 0 && Number(n) < 2 ** 32;
  if (Array.isArray(words) && words.length === 2 && words.every(isWord)) return;
  const rule = `must be two integers in [0, 2^32), low and high, got ${listText(words)}`;
  throw new InvalidArgumentError(argument, rule);
}

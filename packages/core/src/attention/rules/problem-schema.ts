import { checkSchemeProbability, type DropoutSchemeName, dropoutSchemeNames } from '@tilewise/philox';
import { checkObject, checkOneOf, describeValue, InvalidArgumentError } from '../../errors.ts';
import { blockScaleLayouts } from '../../mxfp8/block-scales.ts';
import { dtypeTraits } from '../../tensor/dtype/dtype-traits.ts';
import { fp8Format } from '../options/fp8.ts';
import type { FormatP } from '../problem/fp8.ts';
import { maxExtent } from '../problem/limits.ts';
import type { AttentionProblem, BackwardProblem, DropoutDesc, Fp8Desc } from '../problem/problem.ts';

/** Throws unless `value` has the form that the field `name` must have. */
type Check = (name: string, value: unknown) => void;

/** The fields of a record, all of which are required. */
type Fields<T> = Readonly<Record<keyof T, Check>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fail(name: string, what: string, value: unknown): never {
  throw new InvalidArgumentError(name, `must be ${what}, got ${describeValue(value)}`);
}

const plain =
  (what: string, is: (value: unknown) => boolean): Check =>
  (name, value) => {
    if (!is(value)) fail(name, what, value);
  };

const oneOf =
  (names: readonly unknown[]): Check =>
  (name, value) => {
    checkOneOf(name, value, names);
  };

const orNull =
  (check: Check): Check =>
  (name, value) => {
    if (value !== null) check(name, value);
  };

/** A list of `length` items, or of any number. */
const listOf =
  (item: Check, what: string, length?: number): Check =>
  (name, value) => {
    if (!Array.isArray(value) || (length !== undefined && value.length !== length)) fail(name, what, value);
    // Visits holes too, unlike `forEach`.
    for (let n = 0; n < value.length; n++) item(`${name}[${n}]`, value[n]);
  };

const mapOf =
  (item: Check): Check =>
  (name, value) => {
    checkObject(name, value);
    for (const [key, entry] of Object.entries(value as object)) item(`${name}.${key}`, entry);
  };

const recordOf =
  <T>(fields: Fields<T>): Check =>
  (name, value) => {
    checkObject(name, value);
    checkFields(name, value as object, fields);
  };

/** For each kind of a union, the fields of its record besides `kind`. */
type Kinds<T extends { readonly kind: string }> = {
  readonly [K in T['kind']]: Fields<Omit<Extract<T, { readonly kind: K }>, 'kind'>>;
};

/** One of several records, distinguished by their field `kind`. */
const kindOf =
  <T extends { readonly kind: string }>(kinds: Kinds<T>): Check =>
  (name, value) => {
    checkObject(name, value);
    const kind = oneOf(Object.keys(kinds));
    kind(`${name}.kind`, (value as T).kind);
    checkFields(name, value as object, { kind, ...kinds[(value as T).kind as T['kind']] });
  };

const isCount = (value: unknown, most: number): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most;

const number = plain('a number', value => typeof value === 'number');
const flag = plain('true or false', value => typeof value === 'boolean');
const object = plain('an object', isObject);
const extent = plain(`an integer from 0 to ${maxExtent}`, value => isCount(value, maxExtent));
const stride = plain('an integer ≥ 0', value => isCount(value, Number.MAX_SAFE_INTEGER));
const word = plain('an integer of 32 bits', value => isCount(value, 2 ** 32 - 1));
const words = listOf(word, 'two words of 32 bits', 2);
const dtype = oneOf(Object.keys(dtypeTraits));
const extents = listOf(extent, 'a list of extents');
const fourStrides = listOf(stride, 'four strides', 4);
const lengths = oneOf(['full', 'lengths', 'cumulative']);

const tensorFields = { dtype, shape: extents, strides: listOf(stride, 'a list of strides') };
const tensor: Check = (name, value) => {
  recordOf(tensorFields)(name, value);
  const { shape, strides } = value as { readonly shape: unknown[]; readonly strides: unknown[] };
  if (shape.length !== strides.length) fail(`${name}.strides`, `${shape.length} strides`, strides);
};

const operand = recordOf({
  dtype,
  shape: listOf(extent, 'four extents', 4),
  strides: fourStrides,
  starts: oneOf(['strided', 'cumulative', 'ragged']),
  page: orNull(recordOf({ size: extent, table: tensor })),
});
const broadcast = recordOf({ dtype, strides: fourStrides, source: extents });

const scale = plain('a finite number', x => typeof x === 'number' && Number.isFinite(Math.fround(x)));

const dropout = kindOf<DropoutDesc>({
  philox: {
    p: plain('a number in (0, 1)', p => typeof p === 'number' && p > 0 && p < 1),
    scale,
    scheme: oneOf(dropoutSchemeNames),
    seed: words,
    offset: words,
  },
  mask: { scale, mask: broadcast },
});

const formatP: Check = (_, value) => {
  fp8Format({ formatP: value as FormatP | undefined }, null);
};

const fp8 = kindOf<Fp8Desc>({
  scaled: { formatP },
  blocks: { layout: oneOf(blockScaleLayouts) },
  dequantised: { dtype: oneOf(['f8e4m3', 'f8e5m2']) },
});

/** The form of each field of a forward problem, checked before the rules. */
const forwardFields: Fields<AttentionProblem> = {
  ...{ B: extent, Hq: extent, Hk: extent, Hv: extent, Sq: extent, Skv: extent, Dqk: extent, Dv: extent },
  ...{ q: operand, k: operand, v: operand, o: operand },
  ...{ lengthsQ: lengths, lengthsKv: lengths },
  scale: number,
  scoreMod: orNull(object),
  softcap: orNull(number),
  bias: orNull(broadcast),
  alibi: flag,
  mask: orNull(broadcast),
  band: orNull(
    recordOf({ left: orNull(number), right: orNull(number), align: oneOf(['top-left', 'bottom-right']) }),
  ),
  blockMask: orNull(broadcast),
  maskMod: orNull(object),
  captures: mapOf(tensor),
  sink: flag,
  dropout: orNull(dropout),
  fp8: orNull(fp8),
  outputs: recordOf<AttentionProblem['outputs']>({
    ...{ max: flag, sumExp: flag, dropoutMask: flag, amaxS: flag, amaxO: flag },
  }),
};

const backwardFields: Fields<BackwardProblem> = {
  forward: recordOf(forwardFields),
  ...{ dO: operand, dq: operand, dk: operand, dv: operand },
  dLse: flag,
  gradients: listOf(
    plain('the name of a gradient', value => typeof value === 'string'),
    'an array of names',
  ),
  outputs: recordOf<BackwardProblem['outputs']>({
    ...{ amaxDQ: flag, amaxDK: flag, amaxDV: flag, amaxDP: flag },
  }),
};

function checkFields(name: string, value: object, fields: Readonly<Record<string, Check>>): void {
  for (const [key, check] of Object.entries(fields))
    check(`${name}.${key}`, (value as Readonly<Record<string, unknown>>)[key]);
  const unknown = Object.keys(value).find(key => !Object.hasOwn(fields, key));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${name}.${unknown}`, 'is not a field of a problem');
}

/**
 * Checks that a problem that was stored or made by hand has exactly the fields of a forward problem, and that
 * each has its form at any depth.
 * @throws InvalidArgumentError naming `problem` or the field, such as `problem.q.strides[1]`.
 */
export function checkForwardProblem(problem: unknown): asserts problem is AttentionProblem {
  if (!isObject(problem) || !('q' in problem))
    fail('problem', 'a forward problem, as in normalise(…).problem', problem);
  checkFields('problem', problem, forwardFields);
  checkDropout(problem.dropout as DropoutDesc | null);
}

/**
 * Checks the fields of a backward problem as `checkForwardProblem` does.
 * @throws InvalidArgumentError, as `checkForwardProblem`.
 */
export function checkBackwardProblem(problem: unknown): asserts problem is BackwardProblem {
  if (!isObject(problem) || !('forward' in problem))
    fail('problem', 'a backward problem, as in normaliseBackward(…).problem', problem);
  checkFields('problem', problem, backwardFields);
  checkDropout((problem.forward as AttentionProblem).dropout);
}

/** Checks the probability too, because a scheme has masks only for some probabilities. */
function checkDropout(given: DropoutDesc | null): void {
  if (given?.kind === 'philox')
    checkSchemeProbability(given.scheme as DropoutSchemeName, given.p, 'problem.dropout.p');
}

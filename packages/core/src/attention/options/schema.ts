import type { SdpaResult } from '../../engine/engine.ts';
import { checkObject, describeValue, InvalidArgumentError } from '../../errors.ts';
import { raggedNames } from '../operands/table.ts';
import { nearestName } from './nearest-name.ts';
import type {
  BackwardInputs,
  MaskDropout,
  OutputSelection,
  PhiloxDropout,
  SdpaBackwardOptions,
  SdpaOptions,
  Window,
} from './options.ts';

/**
 * What an option must be before the rules look at it: a number, a truth value, a list of names, an object (`'object'` where what reads
 * it knows its options), or `'any'`, of which its own rule says all.
 */
export type OptionForm = 'any' | 'number' | 'boolean' | 'names' | 'object' | OptionForms;

/** The options that there are, by name. */
export interface OptionForms {
  readonly [name: string]: OptionForm;
}

type PlainForm = Exclude<OptionForm, OptionForms>;

const windowForms: Readonly<Record<keyof Window, OptionForm>> = {
  left: 'number',
  right: 'number',
  align: 'any',
};

const dropoutForms: Readonly<Record<keyof PhiloxDropout | keyof MaskDropout<unknown>, OptionForm>> = {
  p: 'number',
  seed: 'any',
  offset: 'any',
  scheme: 'any',
  mask: 'any',
  scale: 'number',
};

const outputForms: Readonly<Record<keyof OutputSelection, OptionForm>> = {
  max: 'boolean',
  sumExp: 'boolean',
  dropoutMask: 'boolean',
  amaxS: 'boolean',
  amaxO: 'boolean',
  amaxDQ: 'boolean',
  amaxDK: 'boolean',
  amaxDV: 'boolean',
  amaxDP: 'boolean',
};

const forwardForms: Readonly<Record<keyof SdpaOptions, OptionForm>> = {
  scale: 'number',
  causal: 'any',
  window: windowForms,
  mask: 'any',
  bias: 'any',
  alibi: 'any',
  softcap: 'number',
  scoreMod: 'any',
  maskMod: 'any',
  blockMask: 'any',
  sink: 'any',
  seqLensQ: 'any',
  seqLensKv: 'any',
  cuSeqLensQ: 'any',
  cuSeqLensKv: 'any',
  raggedOffsets: formsOf(raggedNames, 'any'),
  maxSeqLenQ: 'number',
  maxSeqLenKv: 'number',
  pageTableK: 'any',
  pageTableV: 'any',
  cuPagesK: 'any',
  cuPagesV: 'any',
  dropout: dropoutForms,
  outputs: outputForms,
  outDType: 'any',
  fp8: 'object',
  mxfp8: 'object',
};

/** Of both passes: a forward call may be given the options of its backward call. */
const sdpaForms: Readonly<Record<keyof SdpaBackwardOptions, OptionForm>> = {
  ...forwardForms,
  gradients: 'names',
  gradDType: 'any',
};

/**
 * Of both passes, likewise; the further results of forward too, as `{ q, k, v, ...forward, dO }` hands them on. They are not read. What a tensor
 * must be is said where it is described.
 */
const inputForms: Readonly<Record<keyof BackwardInputs<unknown> | keyof SdpaResult<unknown>, true>> = {
  ...{ q: true, k: true, v: true, o: true, lse: true, dO: true, dLse: true },
  ...{ max: true, sumExp: true, dropoutMask: true, amaxS: true, amaxO: true },
};

/** Options of which null is the default, as cases in JSON have it. */
const noneByNull: ReadonlySet<string> = new Set([
  'scale',
  'softcap',
  'window',
  'window.left',
  'window.right',
]);

/** The same form for each name. */
export function formsOf(names: readonly string[], form: OptionForm): OptionForms {
  return Object.fromEntries(names.map(name => [name, form]));
}

/**
 * Checks that the inputs and the options of a call are among those that there are, and that the options have their forms. What is undefined
 * is not given.
 * @throws InvalidArgumentError naming the input or option, and for an unknown one the name that was probably meant.
 */
export function checkCall(inputs: unknown, options: unknown): void {
  checkObject('inputs', inputs);
  for (const key of Object.keys(inputs as object)) checkName('input', key, inputForms, '');
  checkForms('options', options, sdpaForms, '');
}

/**
 * The same of one option that is an object.
 * @param prefix of the names in errors.
 * @throws as `checkCall`.
 */
export function checkForms(
  argument: string,
  given: unknown,
  forms: OptionForms,
  prefix = `${argument}.`,
): void {
  const names = Object.keys(forms);
  checkObject(argument, given, prefix === '' ? '' : ` of ${names.join(', ')}`);
  for (const [key, value] of Object.entries(given as object)) {
    const name = prefix + key;
    checkName('option', key, forms, prefix);
    const form = forms[key];
    if (value === undefined || (value === null && noneByNull.has(name))) continue;
    if (value === null) throw new InvalidArgumentError(name, 'must not be null: leave it out');
    if (typeof form === 'object') checkForms(name, value, form);
    else if (form === 'object') checkObject(name, value);
    else checkForm(name, value, form);
  }
}

function checkName(kind: 'input' | 'option', key: string, known: object, prefix: string): void {
  if (Object.hasOwn(known, key)) return;
  const meant = nearestName(key, Object.keys(known));
  const hint = meant === undefined ? '' : `; did you mean ${prefix}${meant}?`;
  throw new InvalidArgumentError(prefix + key, `is no ${kind}${hint}`);
}

const formRules: Readonly<
  Record<Exclude<PlainForm, 'object'>, readonly [is: (value: unknown) => boolean, what: string]>
> = {
  any: [() => true, ''],
  number: [value => typeof value === 'number', 'a number'],
  boolean: [value => typeof value === 'boolean', 'true or false'],
  names: [Array.isArray, 'an array of names'],
};

function checkForm(name: string, value: unknown, form: keyof typeof formRules): void {
  const [is, what] = formRules[form];
  if (!is(value)) throw new InvalidArgumentError(name, `must be ${what}, got ${describeValue(value)}`);
}

import { checkObject, describeValue, InvalidArgumentError } from '../../errors.ts';
import type { OperandName } from '../operands/operand.ts';
import { operandTable, raggedNames } from '../operands/table.ts';
import { fp8AmaxNames } from '../problem/fp8.ts';
import type { NearestName } from './nearest-name.ts';
import type { MaskDropout, PhiloxDropout, SdpaBackwardOptions, Window } from './options.ts';

/**
 * The form of an option, checked before the rules: a number, a boolean, a string (the name of a dtype), a
 * list of names, an object with its own options (`'object'` if the code that reads the object knows these
 * options), or `'any'`, if one rule checks everything.
 */
export type OptionForm = 'any' | 'number' | 'boolean' | 'string' | 'names' | 'object' | OptionForms;

/** The known options, by name. */
export interface OptionForms {
  readonly [name: string]: OptionForm;
}

type PlainForm = Exclude<OptionForm, OptionForms | 'object'>;

const tableNames = /* @__PURE__ */ Object.keys(operandTable) as OperandName[];

/** Options that are operands. The operand table says what each must be. */
const operandOptions = /* @__PURE__ */ tableNames.filter(
  name => operandTable[name].packable && !operandTable[name].option && !name.includes('.'),
);

/**
 * The names of the tensors that a call may take as inputs, in either pass. They include the results of
 * forward, as in `{ q, k, v, ...forward, dO }`.
 */
const inputNames = /* @__PURE__ */ tableNames
  .filter(name => {
    const { form, packable, forward, backward } = operandTable[name];
    return form !== 'number' && !packable && (forward || backward === 'read');
  })
  .map(name => name.replace('outputs.', ''));

/** The options of both passes: a forward call may be given the options of its backward call. */
const sdpaForms: OptionForms = /* @__PURE__ */ ((): Partial<
  Record<keyof SdpaBackwardOptions, OptionForm>
> => ({
  ...formsOf(operandOptions, 'any'),
  ...{ scale: 'number', softcap: 'number', maxSeqLenQ: 'number', maxSeqLenKv: 'number' },
  ...{ causal: 'any', scoreMod: 'any', maskMod: 'any', outDType: 'string', gradDType: 'string' },
  ...{ gradients: 'names', fp8: 'object', mxfp8: 'object' },
  window: { left: 'number', right: 'number', align: 'any' } satisfies Record<keyof Window, OptionForm>,
  raggedOffsets: formsOf(raggedNames, 'any'),
  dropout: {
    ...{ p: 'number', seed: 'any', offset: 'any', scheme: 'any', mask: 'any', scale: 'number' },
  } satisfies Record<keyof PhiloxDropout | keyof MaskDropout<unknown>, OptionForm>,
  outputs: formsOf(['max', 'sumExp', 'dropoutMask', ...fp8AmaxNames], 'boolean'),
}))();

/** Options whose default is null, as in JSON files of cases. */
const nullable: readonly string[] = ['scale', 'softcap', 'window', 'window.left', 'window.right'];

/** Gives all names the same form. */
export function formsOf(names: readonly string[], form: OptionForm): OptionForms {
  return Object.fromEntries(names.map(name => [name, form]));
}

/**
 * Checks that the inputs and the options of a call are known, and that the options have their forms. An
 * option that is undefined counts as not given.
 * @throws InvalidArgumentError naming the input or option and, if it is unknown, the name that was probably
 * meant.
 */
export function checkCall(inputs: unknown, options: unknown, nearestName: NearestName | null): void {
  checkObject('inputs', inputs);
  if ('dtype' in (inputs as object)) {
    // A tensor, as in `sdpaBackward(q, k, v)`.
    const rule = `must be an object of tensors, as in { q, k, v }, got ${describeValue(inputs)}`;
    throw new InvalidArgumentError('inputs', rule);
  }
  for (const key of Object.keys(inputs as object)) checkName('input', key, inputNames, '', nearestName);
  checkForms('options', options, sdpaForms, nearestName, '');
}

/**
 * Checks an option that is an object in the same way.
 * @param prefix the prefix of option names in errors.
 * @throws as `checkCall`.
 */
export function checkForms(
  argument: string,
  given: unknown,
  forms: OptionForms,
  nearestName: NearestName | null,
  prefix = `${argument}.`,
): void {
  const names = Object.keys(forms);
  checkObject(argument, given, prefix && names);
  for (const [key, value] of Object.entries(given as object)) {
    const name = prefix + key;
    checkName('option', key, names, prefix, nearestName);
    const form = forms[key];
    if (value === undefined || (value === null && nullable.includes(name))) continue;
    if (value === null) throw new InvalidArgumentError(name, 'must not be null: leave it out');
    if (typeof form === 'object') checkForms(name, value, form, nearestName);
    else if (form === 'object') checkObject(name, value);
    else checkForm(name, value, form);
  }
}

function checkName(
  kind: 'input' | 'option',
  key: string,
  known: readonly string[],
  prefix: string,
  nearestName: NearestName | null,
): void {
  if (known.includes(key)) return;
  const meant = nearestName?.(key, known);
  const hint =
    meant === undefined ? `the ${kind}s are ${known.join(', ')}` : `did you mean ${prefix}${meant}?`;
  throw new InvalidArgumentError(prefix + key, `is not an ${kind}; ${hint}`);
}

const formTexts: Readonly<Record<Exclude<PlainForm, 'any'>, string>> = {
  number: 'a number',
  boolean: 'true or false',
  string: 'the name of a dtype',
  names: 'an array of names',
};

function checkForm(name: string, value: unknown, form: PlainForm): void {
  if (form === 'any') return;
  const fits =
    form === 'names'
      ? Array.isArray(value) && value.every(name => typeof name === 'string')
      : typeof value === form;
  if (!fits) throw new InvalidArgumentError(name, `must be ${formTexts[form]}, got ${describeValue(value)}`);
}

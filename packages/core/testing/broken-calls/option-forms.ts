import { type BrokenCall, f32, value } from './call.ts';

const option = (argument: string, says: RegExp, options: unknown): BrokenCall =>
  value(argument, says, { options: options as object });

/** Unknown options, and options of the wrong form: all of these were once silently ignored. */
export const optionFormCalls: readonly BrokenCall[] = [
  option('options', /must be an object, got null/, null),
  option('options', /must be an object, got 3/, 3),
  option('options', /must be an object, got "causal"/, 'causal'),
  option('options', /must be an object, got Array/, []),
  option('is_causal', /is not an option; did you mean causal\?/, { is_causal: true }),
  option('dropoutP', /is not an option; did you mean dropout\?/, { dropoutP: 0.5 }),
  option('enable_gqa', /is not an option; the options are /, { enable_gqa: true }),
  option('scale', /must be a number, got "0.5"/, { scale: '0.5' }),
  option('scale', /must be a number, got true/, { scale: true }),
  option('scale', /must be a number, got Array/, { scale: [2] }),
  option('scale', /must be a number, got 1n/, { scale: 1n }),
  option('outDType', /must not be null: leave it out/, { outDType: null }),
  option('window', /must be an object of left, right, align, got Array/, { window: [2, 0] }),
  option('window', /must be an object of left.*, got 3/, { window: 3 }),
  option('window.lefft', /is not an option; did you mean window.left\?/, { window: { lefft: 2 } }),
  option('window.right', /must be a number, got "1"/, { window: { right: '1' } }),
  option('outputs', /must be an object of max, sumExp.*, got Array/, { outputs: ['max'] }),
  option('outputs', /must be an object of .*, got true/, { outputs: true }),
  option('outputs.lse', /is not an option; the options are /, { outputs: { lse: true } }),
  option('outputs.max', /must be true or false, got 1/, { outputs: { max: 1 } }),
  option('dropout', /must be an object of p, seed.*, got 0.5/, { dropout: 0.5 }),
  option('dropout.probability', /is not an option; the options are /, {
    dropout: { probability: 0.5, seed: 1 },
  }),
  option('dropout.p', /must be a number, got "0.5"/, { dropout: { p: '0.5', seed: 1 } }),
  option('raggedOffsets', /must be an object of q, k.*, got Array/, { raggedOffsets: [0, 4, 8] }),
  option('raggedOffsets.lse', /is not an option; the options are /, { raggedOffsets: { lse: [0, 1, 2] } }),
  option('alibi', /must be an array or a tensor, got 0/, { alibi: 0 }),
  option('pageTableK', /must be a tensor, got false/, { pageTableK: false }),
  option('maskMod', /must be made by scoreMod, maskMod or modOf/, { maskMod: false }),
  option('maskMod', /must be made by scoreMod, maskMod or modOf/, { maskMod: () => true }),
  option('fp8', /must be an object, got 3/, { fp8: 3 }),
  option('fp8.scaleX', /is not an option; did you mean fp8.scale.\?/, { fp8: { scaleX: 1 } }),
  option('fp8.formatP', /must be an object of dtype, zeroPoint, got "u8"/, { fp8: { formatP: 'u8' } }),
  option('mxfp8', /must be an object, got 3/, { mxfp8: 3 }),
  option('mxfp8.descale', /is not an option; did you mean mxfp8.descale.\?/, { mxfp8: { descale: f32(1) } }),
  value('gradients', /must be an array of names, got "dq"/, { backward: true, options: { gradients: 'dq' } }),
  ...(['dO', 'lse', 'k'] as const).map(name =>
    value(name, /must be a tensor, got undefined/, { backward: true, inputs: { [name]: undefined } }),
  ),
];

const input = (argument: string, says: RegExp): BrokenCall =>
  value(argument, says, { backward: true, inputs: { [argument]: null } });

/** Unknown inputs, whatever they hold: ignoring one would give the gradients of a call without it. */
export const inputNameCalls: readonly BrokenCall[] = [
  input('dlse', /is not an input; did you mean dLse\?/),
  input('dOut', /is not an input; the inputs are q, k, v, o, lse, .*dO/),
  input('query', /is not an input; the inputs are q, k, v/),
  input('dLse', /must be a tensor, got null/),
  // A tensor instead of an object of tensors, as in `sdpaBackward(q, k, v)`.
  value('inputs', /must be an object of tensors, as in { q, k, v }/, {
    backward: true,
    inputs: { dtype: 'f32' } as object,
  }),
];

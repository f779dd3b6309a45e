import { Tensor } from '@tilewise/core';
import type { Inputs } from '../tensors/call.ts';

/**
 * The inputs of a call that breaks a rule, for cases that do not break the rule themselves. Options may be of
 * any type.
 */
export type BrokenInputs = Omit<Inputs, 'options'> & { readonly options: Readonly<Record<string, unknown>> };

/** One of cuDNN's refusals. */
export interface Rule {
  readonly says: RegExp;
  /**
   * `vendor-only`: the rule is about a chip, a version, a kernel or the form of one API. Attention is well
   * defined for the call, so it is computed. `ill-formed`: the mathematics or the data contradict themselves,
   * so the engine must refuse the call with a typed error.
   */
  readonly kind: 'vendor-only' | 'ill-formed';
  /** Why the rule is of that kind, continuing "cuDNN refuses it, but" or "cuDNN refuses it because". */
  readonly reason: string;
  /** Changes a valid call so that it breaks the rule. If absent, the case itself breaks the rule. */
  readonly breaks?: (inputs: Inputs, message: string) => BrokenInputs;
}

const vendorOnly = (says: RegExp, reason: string): Rule => ({ says, kind: 'vendor-only', reason });
const illFormed = (says: RegExp, reason: string, breaks?: Rule['breaks']): Rule => ({
  says,
  kind: 'ill-formed',
  reason,
  ...(breaks && { breaks }),
});

/** A change to the options alone. */
const withOptions =
  (change: (inputs: Inputs, message: string) => Readonly<Record<string, unknown>>): Rule['breaks'] =>
  (inputs, message) => ({ ...inputs, options: { ...inputs.options, ...change(inputs, message) } });

/** A change to the block scales that a message names. */
const withScales = (change: (scales: Tensor) => Tensor): Rule['breaks'] =>
  withOptions(({ options }, message) => {
    const [, port = ''] = /Descale_(\w+)/.exec(message) ?? [];
    const name = `descale${port.replace('_', '').replace('dO', 'DO')}` as 'descaleQ';
    const scales = options.mxfp8?.[name];
    return { mxfp8: { ...options.mxfp8, [name]: scales && change(scales) } };
  });

const lengthsOf = ({ q }: Inputs, length: number): number[] => new Array<number>(q.shape[0]).fill(length);

/**
 * Every refusal of cuDNN; the first row that matches counts. The messages come from
 * `conformance/cudnn/validation-rules.json`.
 */
export const rules: readonly Rule[] = [
  // Contradictions in the mathematics or the data.
  illFormed(
    /number of heads for key and query must be a factor of number of heads for query/,
    'query heads can share only whole heads of k and v',
  ),
  illFormed(
    /^attn_scale with tensor and value cannot be set/,
    'two scales are given, but a call has one',
    withOptions(({ options }) => ({ scale: [Tensor.from([1], [1]), options.scale] })),
  ),
  illFormed(/^Bias mask data type cannot be boolean/, 'booleans cannot be added to scores'),
  illFormed(
    /^Padding mask requires seq_len_q and seq_len_kv/,
    'a padding mask needs the lengths of the sequences',
    withOptions(() => ({ seqLensQ: null, seqLensKv: null })),
  ),
  illFormed(
    /^Using both, custom dropout mask and internal-mask generation/,
    'two masks are given, but a call has one',
  ),
  illFormed(/^Dropout probability cannot be 1/, 'the kept probabilities would be scaled by 1/0'),
  illFormed(/^Right bound needs to be larger than or equal to zero/, 'a bound is a number of keys'),
  illFormed(/^Left bound \(Sliding window length\) should be/, 'a window must contain the diagonal key'),
  illFormed(
    /^Paged caches can only be used in combination with padding mask/,
    'a page table does not contain the lengths of sequences',
  ),
  illFormed(
    /^When not using paged attention, there is no need to explicitly set max kv sequence length/,
    'the stated number of keys differs from that of the tensors',
  ),
  illFormed(
    /incompatible with the sequence length of the bias/,
    'the bias has a different number of keys',
    withOptions(inputs => ({
      ...pagedLengths(inputs),
      bias: Tensor.zeros([1, 1, inputs.q.shape[2], (inputs.options.maxSeqLenKv ?? 0) + 1], { dtype: 'f16' }),
    })),
  ),
  illFormed(
    /^Paged cache load: block table size must equal/,
    'the table has too few pages for the keys',
    withOptions(inputs => ({ ...pagedLengths(inputs), pageTableK: shorter(inputs.options.pageTableK) })),
  ),
  illFormed(
    /^If dsink is set, sink also needs to be set|^If dSink_token output is requested/,
    'a gradient is requested for a sink that is not given',
  ),
  illFormed(
    /^use_causal_mask and use_causal_mask_bottom_right cannot both be true/,
    'the diagonal can start in only one corner',
    withOptions(() => ({ causal: true, window: { align: 'bottom-right' } })),
  ),
  illFormed(/^The dim for .* is invalid/, 'q must have four dimensions', inputs => ({
    ...inputs,
    options: { ...inputs.options },
    q: inputs.q.reshape(inputs.q.shape.slice(1)),
  })),
  illFormed(
    /^The stride for .* is invalid/,
    'a tensor must have one stride per dimension',
    ({ q, ...others }) => ({
      ...others,
      options: { ...others.options },
      q: Tensor.wrap(q.data, {
        dtype: q.dtype,
        shape: q.shape,
        strides: q.strides.slice(1),
        offset: q.offset,
      }),
    }),
  ),
  illFormed(
    /^attn_scale must be a cudnn_tensor or float/,
    'the scale is not a number',
    withOptions(() => ({ scale: 'one' })),
  ),
  illFormed(
    /^diagonal_band_left_bound must be an int/,
    'a bound is a whole number of keys',
    withOptions(() => ({ window: { left: 1.5 } })),
  ),
  illFormed(
    /^diagonal_band_right_bound must be an int/,
    'a bound is a whole number of keys',
    withOptions(() => ({ window: { right: 1.5 } })),
  ),
  illFormed(
    /^paged_attention_max_seq_len_kv must be an int/,
    'it is a number of keys',
    withOptions(() => ({ maxSeqLenKv: 1.5 })),
  ),
  illFormed(
    /^dropout must be a tuple of/,
    'it has neither a mask nor a seed to draw one from',
    withOptions(() => ({ dropout: 0.1 })),
  ),
  illFormed(
    /^dropout mask must be a cudnn_tensor/,
    'a number is not a mask',
    withOptions(() => ({ dropout: { mask: 1 } })),
  ),
  illFormed(
    /cu_seq_len.*\(B ?\+ ?1/,
    'cumulative lengths have one entry per sequence and one more',
    withOptions(inputs => ({ cuSeqLensQ: [0, 1], seqLensQ: lengthsOf(inputs, 1).concat(1, 1) })),
  ),
  illFormed(
    /^MXFP8 SDPA requires .* to have FP8_E8M0/,
    'block scales are powers of two',
    withScales(scales => scales.cast('f32')),
  ),
  illFormed(
    /^MXFP8 SDPA: .* must match/,
    'the block scales have a different number of heads than the data',
    withScales(scales =>
      Tensor.zeros([...scales.shape.slice(0, 1), scales.shape[1] + 1, ...scales.shape.slice(2)], {
        dtype: 'u8',
      }),
    ),
  ),
  illFormed(
    /^MXFP8 SDPA: .* d_scale dimension too small/,
    'some blocks have no scale',
    withScales(scales => scales.slice(3, 0, scales.shape[3] - 1).contiguous()),
  ),
  illFormed(
    /^MXFP8 SDPA: .* s_scale dimension too small/,
    'some blocks have no scale',
    withScales(scales => scales.slice(2, 0, scales.shape[2] - 1).contiguous()),
  ),

  // Requirements of one chip, version, kernel or API.
  vendorOnly(/only if padding mask is enabled/, 'here the lengths alone are the padding mask'),
  vendorOnly(
    /^Ragged offsets are only supported with padding mask|is_ragged==True is only allowed/,
    'here cumulative lengths also serve as the padding mask',
  ),
  vendorOnly(/^Bottom right causal mask does not support/, 'the first queries, which see no key, get zeros'),
  vendorOnly(
    /^Bottom right causal mask is only supported/,
    'an aligned band can be combined with all other options',
  ),
  vendorOnly(
    /^Sliding window attention is only supported with max_s_q <= max_s_kv/,
    'queries beyond the last key see fewer keys, or none',
  ),
  vendorOnly(/^Left and right bounds are only supported/, 'a band can be combined with all other options'),
  vendorOnly(/^When alibi mask is used/, 'the distance |i − j| is defined on both sides of the diagonal'),
  vendorOnly(/hidden_dim|head_dim/, 'head sizes may have any value'),
  vendorOnly(/^SDPA FP8 does not support bias/, 'a bias can be added to any scores'),
  vendorOnly(/^Attention score mod enabled/, 'a score mod can be combined with masks'),
  vendorOnly(/^decode only mode/, 'attention is defined for one query'),
  vendorOnly(/^s_q = s_kv = 1 is not supported/, 'attention is defined for one query and one key'),
  vendorOnly(
    /^max_total_seq_len_(q|kv) is only supported with packed layout/,
    'the shape of a tensor already has its number of tokens',
  ),
  vendorOnly(
    /F8_128x4 reordering|contiguous [ds]_scale dimension/,
    'the order of scales in memory depends only on the chip',
  ),
  vendorOnly(
    /^Paged caches are not supported in combination with ragged/,
    'queries may be packed while keys are paged',
  ),
  vendorOnly(/stride for the last dimension/, 'channels may have any stride'),
  vendorOnly(/^Intermediate tensor data type|compute_data_type/, 'sums are always f32 here'),
  vendorOnly(/^Deterministic algorithm|^FP8 deterministic algorithm/, 'every backward pass is deterministic'),
  vendorOnly(
    /incompatible with the sequence length of the RNG_DUMP/,
    'the engine allocates the tensor of the mask',
  ),
  vendorOnly(
    /only output certain combinations of stats, max and sum_exp/,
    'each result can be requested alone',
  ),
  vendorOnly(
    /cannot be set at the same time|cannot both be set/,
    'two bounds on one side mean that both apply',
  ),
  vendorOnly(/length are both required/, 'a side without lengths has its full length'),
  vendorOnly(/^generate_stats must be|^Exactly one of \{generate_stats/, 'lse is always returned'),
  vendorOnly(/^dropout (seed|offset|scale) must be a cudnn_tensor/, 'numbers are accepted too'),
  vendorOnly(
    /Block_mask|block_mask|[Uu]nified|[Cc]omposite|FROST|No suitable implementation|DiagonalBandMaskNode/,
    'it is about one of cuDNN\u2019s implementations',
  ),
  vendorOnly(
    /^Unsupported (mma|MMA) core mode|CUDNN_FRONTEND_ATTN_DP_WORKSPACE_LIMIT/,
    'it is about cuDNN\u2019s own settings',
  ),
  vendorOnly(/stats_use_log2|softmax_precision|prefolded/, 'it is about numerics of cuDNN\u2019s kernels'),
  vendorOnly(
    /[Vv]ersion|cu[Dd][Nn][Nn]|SM ?\d|SM[89X]|SM Major|Hopper|Blackwell|Ampere|sm120|before 9\.|newer/,
    'it is about a chip or a version',
  ),
];

/**
 * The row for the refusal that a case quotes: `CODE: message`.
 * @throws Error if the table has no row for it, because then nobody has decided its kind.
 */
export function ruleOf(vendorRule: string): Rule {
  const message = vendorRule.replace(/^\w+: /, '');
  const rule = rules.find(({ says }) => says.test(message));
  if (!rule) throw new Error(`no rule in the table of this suite matches '${message}'`);
  return rule;
}

function pagedLengths(inputs: Inputs): Readonly<Record<string, number[]>> {
  const { maxSeqLenKv = 0 } = inputs.options;
  return { seqLensQ: lengthsOf(inputs, inputs.q.shape[2]), seqLensKv: lengthsOf(inputs, maxSeqLenKv) };
}

function shorter(table: Tensor | undefined): Tensor | undefined {
  return table?.slice(1, 0, table.shape[1] - 1);
}

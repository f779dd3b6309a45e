import { decodeTensor, type EncodedTensor, type RawTensor } from './raw-tensor.ts';

/** The parameters of a case, named as in its file. Lengths and counts are in elements. */
export interface GoldenParams {
  readonly layout: 'BHSD' | 'THD';
  readonly B: number;
  readonly Hq: number;
  readonly Hk: number;
  readonly Sq: number;
  readonly Skv: number;
  readonly Dqk: number;
  readonly Dv: number;
  readonly scale: number;
  readonly scaleIsDefault: boolean;
  readonly causal: boolean;
  /** The corner where the diagonal of `causal`, `window` and ALiBi starts: top-left or bottom-right. */
  readonly align: 'tl' | 'br';
  /** Neighbours left and right of the diagonal, -1 = unbounded. */
  readonly window: readonly [left: number, right: number] | null;
  /** 0 for none. */
  readonly softcap: number;
  /** 0 for none. */
  readonly dropoutP: number;
  readonly qLens?: readonly number[];
  readonly kvLens?: readonly number[];
  readonly maxSeqQ?: number;
  readonly maxSeqKv?: number;
}

/** The error of an eager implementation in that precision, per tensor: `[max, rms]`. */
export type RefErr = Readonly<Record<string, readonly [max: number, rms: number]>>;

/**
 * One golden case of attention, forward and backward. The inputs are exact in f32, f16 and bf16; the outputs
 * were computed in float64 and rounded to f32.
 */
export interface GoldenCase {
  readonly name: string;
  readonly params: GoldenParams;
  /** `q k v dO`, and `bias mask slopes keep sink dLse docIds cuSeqQ cuSeqKv` if the case has them. */
  readonly inputs: Readonly<Record<string, RawTensor>>;
  /** `o lse dq dk dv`, and `dbias dslopes dsink` if the case has them. */
  readonly outputs: Readonly<Record<string, RawTensor>>;
  readonly refErr: { readonly f32: RefErr; readonly f16: RefErr; readonly bf16: RefErr };
  /** The largest finite magnitude of each output. */
  readonly maxAbs: Readonly<Record<string, number>>;
  /**
   * The number of query rows that see no key. For THD, the number among the padded [B, Hq, Sq] rows that the
   * packed rows correspond to.
   */
  readonly deadRows: number;
}

type EncodedCase = Omit<GoldenCase, 'inputs' | 'outputs'> & {
  readonly inputs: Readonly<Record<string, EncodedTensor>>;
  readonly outputs: Readonly<Record<string, EncodedTensor>>;
};

/** Decodes the text of a golden case's file. */
export function parseGolden(text: string): GoldenCase {
  const encoded: EncodedCase = Object(JSON.parse(text));
  const { name, params, refErr, maxAbs, deadRows } = encoded;
  for (const part of ['params', 'inputs', 'outputs', 'maxAbs'] as const)
    if (Object(encoded[part]) !== encoded[part]) throw new Error(`A golden case has no ${part}.`);
  return {
    name,
    params,
    inputs: decodeAll(encoded.inputs),
    outputs: decodeAll(encoded.outputs),
    refErr,
    maxAbs,
    deadRows,
  };
}

function decodeAll(tensors: Readonly<Record<string, EncodedTensor>>): Record<string, RawTensor> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, decodeTensor(Object(tensor))]),
  );
}

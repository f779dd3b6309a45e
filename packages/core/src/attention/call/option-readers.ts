import { fp8Format, fp8Scalars, mxfp8Tensors } from '../options/fp8.ts';
import { type NearestName, nearestName } from '../options/nearest-name.ts';
import type { AttentionProblem } from '../problem/problem.ts';
import { type DataChecks, dataChecks } from '../rules/data-rules.ts';
import { fp8ForwardRules } from '../rules/fp8-rules.ts';
import type { Rule } from '../rules/rule.ts';

/**
 * The functions that read the options `fp8` and `mxfp8` of a call, and the rules of problems with these
 * options. A bundle without these options leaves the functions out.
 */
export interface Fp8Readers {
  /** Reads the scales and descales of the option `fp8`. */
  readonly scalars: typeof fp8Scalars;
  /** Reads `fp8.formatP`. */
  readonly format: typeof fp8Format;
  /** Reads the tensors of the option `mxfp8`. */
  readonly tensors: typeof mxfp8Tensors;
  /** The rules of a forward problem with one of these options. */
  readonly rules: readonly Rule<AttentionProblem>[];
}

/** How the options `fp8` and `mxfp8` are read and checked, for `normaliseCall`. */
export const fp8Readers: Fp8Readers = {
  scalars: fp8Scalars,
  format: fp8Format,
  tensors: mxfp8Tensors,
  rules: fp8ForwardRules,
};

/**
 * The functions that read and check options that few calls have. An engine that bundles fewer of them must
 * first report which one a call needs.
 */
export interface OptionReaders {
  /** Reads the options `fp8` and `mxfp8`. */
  readonly fp8: Fp8Readers | null;
  /** Checks lengths, offsets and page tables that are on the host. */
  readonly data: DataChecks | null;
  /** Finds the name that a misspelt one probably stands for. */
  readonly nearestName: NearestName | null;
}

/** Reads every option. */
export const allReaders: OptionReaders = { fp8: fp8Readers, data: dataChecks, nearestName };

import { type DataChecks, dataChecks } from '../rules/data-rules.ts';
import { type Fp8Readers, fp8Readers } from './fp8.ts';
import { type NearestName, nearestName } from './nearest-name.ts';

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

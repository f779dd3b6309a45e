import { TilewiseError } from '@tilewise/philox/errors';

export {
  checkFunction,
  checkObject,
  checkOneOf,
  checkOptions,
  describeValue,
  type ErrorCode,
  InvalidArgumentError,
  TilewiseError,
} from '@tilewise/philox/errors';

/** A shape, stride or extent that does not fit. */
export class InvalidShapeError extends TilewiseError {
  override readonly name: string = 'InvalidShapeError';
  constructor(argument: string, rule: string) {
    super('INVALID_SHAPE', `${argument} ${rule}`, { argument });
  }
}

/** A dtype that this argument cannot have. */
export class InvalidDTypeError extends TilewiseError {
  override readonly name: string = 'InvalidDTypeError';
  constructor(argument: string, rule: string) {
    super('INVALID_DTYPE', `${argument} ${rule}`, { argument });
  }
}

/** A valid request that this engine cannot carry out; `reasons` are those of `checkSupport`. */
export class UnsupportedError extends TilewiseError {
  override readonly name: string = 'UnsupportedError';
  readonly reasons: readonly string[];
  constructor(engine: string, reasons: readonly string[]) {
    super('UNSUPPORTED', `the ${engine} engine cannot run this problem: ${reasons.join('; ')}`);
    this.reasons = reasons;
  }
}
